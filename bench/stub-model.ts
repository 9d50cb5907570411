/**
 * A model server of the Anthropic wire in its own process. The name of the model decides the answer: `one` a token,
 * `bash` a command and then a token, `fill` a command that writes 50 MB, `custom` a call of a client's tool, `mcp` a
 * call of an MCP server's tool, `slow` fifty tokens at 20 ms, `stream N RATE` in the message N tokens, RATE of them a
 * second, `hang` a token and then silence, `team` the calls of a coordinator, `words` a page of text with a count of the
 * input tokens. `/marks` says when the model first saw each mark.
 */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'

const event = (data: { type: string; [key: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

const begin = event({
  type: 'message_start',
  message: {
    id: 'msg_stub',
    type: 'message',
    role: 'assistant',
    model: 'stub',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  },
})
const textStart = event({
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'text', text: '' },
})
const token = (text: string) =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
const end = (reason: string) =>
  event({ type: 'content_block_stop', index: 0 }) +
  event({
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 1 },
  }) +
  event({ type: 'message_stop' })
const calls = (made: readonly (readonly [name: string, input: object])[]) =>
  begin +
  made
    .map(
      ([name, input], index) =>
        event({
          type: 'content_block_start',
          index,
          content_block: { type: 'tool_use', id: `toolu_${Date.now()}_${index}`, name, input: {} },
        }) +
        event({
          type: 'content_block_delta',
          index,
          delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
        }),
    )
    .join('') +
  end('tool_use')
const fill = 'head -c 50M /dev/urandom > /workspace/large'
const call = (name: string, input: object) => calls([[name, input]])
const one = begin + textStart + token('ok') + end('end_turn')

/** About 500 tokens of text. The count of input tokens is as rough as a provider's count for plain English. */
const words = (body: string): string =>
  begin.replace('"input_tokens":10', `"input_tokens":${Math.round(body.length / 4)}`) +
  textStart +
  token('a word and another '.repeat(105)) +
  end('end_turn')

async function slow(response: ServerResponse): Promise<void> {
  response.write(begin + textStart)
  for (let n = 0; n < 50; n++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    response.write(token(`word${n} `))
  }
  response.end(end('end_turn'))
}

/** Tokens by the clock: a timer that comes late brings several, so that the rate holds. */
async function stream(body: string, response: ServerResponse): Promise<void> {
  const asked = [...body.matchAll(/stream (\d+) (\d+)/g)].at(-1)
  const [count, rate] = [Number(asked?.[1] ?? 1), Number(asked?.[2] ?? 1)]
  response.write(begin + textStart)
  const began = performance.now()
  for (let sent = 0; sent < count;) {
    const due = Math.min(count, Math.floor(((performance.now() - began) * rate) / 1000) + 1)
    for (; sent < due; sent++)
      response.write(token(sent % 40 === 39 ? `word${sent}.\n\n` : `word${sent} `))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  response.end(end('end_turn'))
}

/**
 * The answer of a coordinator. `begin turn start N NAME ID` starts N agents of that name and waits for one; `begin turn
 * send` sends a mark to the first agent that the conversation names.
 */
function team(body: string): string {
  const turn = body.slice(body.lastIndexOf('begin turn'))
  const [, count = '0', agent, id] = /begin turn start (\d+) (\w+) ([\w-]{36})/.exec(turn) ?? []
  const results = turn.split('"tool_result"').length - 1
  if (agent === undefined) {
    if (results > 0) return one
    const [session_thread_id] = /sthr_[0-9a-f]{32}/.exec(body) ?? []
    const mark = randomUUID()
    marks[`sent-${mark}`] = performance.timeOrigin + performance.now()
    return call('send_to_agent', { session_thread_id, message: `mark-${mark}` })
  }
  if (results === 0)
    return calls(
      Array.from({ length: Number(count) }, () => ['create_agent', { agent, message: 'go' }]),
    )
  if (results === Number(count)) return call('wait_for_agents', {})
  marks[`waited-${id}`] ??= performance.timeOrigin + performance.now()
  return one
}

function answer(model: string, body: string, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  // The newest message decides whether the tool has been used in this turn.
  const used = body.lastIndexOf('"tool_result"') > body.lastIndexOf('begin turn')
  switch (model) {
    case 'bash':
      return void response.end(used ? one : call('bash', { command: 'echo hi' }))
    case 'fill':
      return void response.end(used ? one : call('bash', { command: fill }))
    case 'custom':
      return void response.end(used ? one : call('ask_client', {}))
    case 'mcp':
      return void response.end(used ? one : call('mcp__s19__echo', {}))
    case 'team':
      return void response.end(team(body))
    case 'words':
      return void response.end(words(body))
    case 'slow':
      return void slow(response)
    case 'stream':
      return void stream(body, response)
    case 'hang':
      return void response.write(begin + textStart + token('ok'))
    default:
      response.end(one)
  }
}

let requests = 0
/** Time at which a mark was first seen, in ms since the epoch. */
const marks: Record<string, number> = {}
const server = createServer((request, response) => {
  if (request.url === '/requests') return void response.end(String(requests))
  if (request.url === '/marks') return void response.end(JSON.stringify(marks))
  const at = performance.timeOrigin + performance.now()
  requests++
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString()
    const model = /"model":"(\w+)"/.exec(body)?.[1] ?? 'one'
    const mark = body.match(/mark-[\w-]{36}/g)?.at(-1)
    if (mark && model !== 'team') marks[mark] ??= at
    answer(model, body, response)
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' && address ? address.port : 0)
})
process.on('disconnect', () => process.exit(0))
