/** Valid answers, changed at random as endpoints and proxies change them. A case is repeated by its seed. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AssistantBlock, Message, ModelEvent } from '../model.ts'
import { bashSpec, stubKey, userText } from '../stubs/read-answer.ts'
import { brokenRules } from '../stubs/rule-keeper.ts'
import { anthropicDialect } from '../stubs/stub-anthropic.ts'
import { googleDialect } from '../stubs/stub-google.ts'
import { openaiChatDialect } from '../stubs/stub-openai-chat.ts'
import { openaiResponsesDialect } from '../stubs/stub-openai-responses.ts'
import {
  startStub,
  type StubAnswer,
  type StubBlock,
  type StubDialect,
  type StubModel,
} from '../stubs/stub-server.ts'
import { type ModelWire, modelWires } from '../spec.ts'
import { openModel } from '../wire.ts'

const dialects: Record<ModelWire, StubDialect> = {
  'anthropic-messages': anthropicDialect,
  'openai-completions': openaiChatDialect,
  'openai-responses': openaiResponsesDialect,
  'google-generative-ai': googleDialect,
}
const isLong = process.env['STEWARD_TEST_LONG'] === '1'
const casesOfWire = isLong ? 5_000 : 150

type Random = {
  below(count: number): number
  one<T>(from: readonly [T, ...T[]]): T
  chance(of: number): boolean
}

/** A linear congruential generator: the same numbers for a seed, everywhere. */
function randomOf(seed: number): Random {
  let state = (seed * 2_654_435_761 + 12_345) >>> 0
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  return { below, one: (from) => from[below(from.length)] ?? from[0], chance: (of) => next() < of }
}

const commands = [
  'echo one',
  'rm -rf /workspace/keep',
  'a "b" \\d\n{}[],',
  'printf 12',
  '😀 é',
  '',
] as const
const names = [
  'bash',
  'bash',
  'bash',
  'multi_tool_use.parallel',
  'bash echo',
  'x'.repeat(200),
] as const
const texts = ['Hello there.', '12', ' ', '', 'a\n\nb', '😀😀', 'data: {"x":1}'] as const

/** What the answer means: its calls that are whole, and all names of its calls. */
type Meaning = { whole: string[]; calls: number; said: string }

function piecesOf(random: Random, text: string): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length;) {
    const length = 1 + random.below(12)
    pieces.push(text.slice(at, at + length))
    at += length
  }
  return pieces
}

function answerOf(random: Random, wire: ModelWire): { answer: StubAnswer; meaning: Meaning } {
  const meaning: Meaning = { whole: [], calls: 0, said: '' }
  const blocks: StubBlock[] = []
  for (let count = 1 + random.below(4); count > 0; count--) {
    if (random.chance(0.5)) {
      const text = random.one(texts)
      meaning.said += text
      blocks.push({ type: 'text', pieces: piecesOf(random, text) })
      continue
    }
    const name = random.one(names)
    const input = { command: random.one(commands), timeout_ms: random.below(5_000) }
    const json = JSON.stringify(input)
    const isCut = wire !== 'google-generative-ai' && random.chance(0.3)
    const sent = isCut ? json.slice(0, 1 + random.below(json.length - 1)) : json
    if (!isCut) meaning.whole.push(`${name} ${json}`)
    const id =
      wire === 'openai-responses'
        ? `call_${meaning.calls}|fc_${meaning.calls}`
        : `call_${meaning.calls}`
    meaning.calls++
    blocks.push({ type: 'tool_call', id, name, pieces: piecesOf(random, sent) })
  }
  const stop = random.one(['end_turn', 'tool_use', 'tool_use', 'max_tokens'] as const)
  return { answer: { blocks, stop }, meaning }
}

type Change = (random: Random, frames: string[], wire: ModelWire) => string[]

/** Changes each event's data. */
const rewrite = (frames: string[], change: (data: unknown) => unknown): string[] =>
  frames.map((frame) =>
    frame.replace(
      /data: (\{.*\})/,
      (_line, json: string) => `data: ${JSON.stringify(change(JSON.parse(json)))}`,
    ),
  )

/** Fields that a reader can do without. */
const optional = new Set(
  `usage id model role created object stop_sequence logprobs annotations item_id cached_tokens input_tokens output_tokens
  prompt_tokens completion_tokens total_tokens usageMetadata status incomplete_details signature system_fingerprint refusal
  prompt_tokens_details input_tokens_details finish_reason call_id`.split(/\s+/),
)

function walk(value: unknown, change: (name: string, each: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => walk(each, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === 'args' ? each : change(name, walk(each, change)),
    ]),
  )
}

const changes: Record<string, Change> = {
  'cuts the body': (random, frames) => {
    const body = frames.join('')
    return [body.slice(0, random.below(body.length))]
  },
  'puts null for absent': (random, frames) =>
    rewrite(frames, (data) =>
      walk(data, (name, each) =>
        optional.has(name) && name !== 'finish_reason' && random.chance(0.4) ? null : each,
      ),
    ),
  'omits optional fields': (random, frames) =>
    rewrite(frames, (data) =>
      walk(data, (name, each) => (optional.has(name) && random.chance(0.4) ? undefined : each)),
    ),
  'puts numbers for texts, and texts for numbers': (_random, frames) =>
    rewrite(frames, (data) =>
      walk(data, (name, each) => {
        if (typeof each === 'number' && /tokens|index/.test(name)) return String(each)
        return typeof each === 'string' &&
          /^[1-9]\d*$/.test(each) &&
          !/arguments|partial_json|^id$/.test(name)
          ? Number(each)
          : each
      }),
    ),
  'escapes all characters': (_random, frames) =>
    frames.map((frame) =>
      frame.replace(/[^\n -~]/gu, (character) =>
        character
          .split('')
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          .join(''),
      ),
    ),
  'ends lines as others do': (random, frames) => {
    const end = random.one(['\r\n', '\r'])
    return frames.map((frame) => frame.replaceAll('\n', end))
  },
  'joins events': (random, frames) =>
    frames.map((frame) =>
      random.chance(0.3) && !frame.includes('event:') ? frame.replace(/\n\n$/, '\n') : frame,
    ),
  'sends pings': (random, frames) =>
    frames.flatMap((frame) => (random.chance(0.3) ? [': ping\n\n', frame] : [frame])),
  'gives every call one index': (_random, frames, wire) =>
    wire === 'openai-completions'
      ? rewrite(frames, (data) => walk(data, (name, each) => (name === 'index' ? 0 : each)))
      : frames,
  'ends without a reason': (_random, frames) =>
    rewrite(frames, (data) =>
      walk(data, (name, each) => (/^(finish_reason|stop_reason)$/.test(name) ? null : each)),
    ),
  'ends with a word of its own': (_random, frames) =>
    rewrite(frames, (data) =>
      walk(data, (name, each) =>
        /^(finish_?[rR]eason|stop_reason)$/.test(name) && each !== null ? 'eos' : each,
      ),
    ),
  'names no events': (_random, frames) => frames.map((frame) => frame.replace(/^event: .*\n/, '')),
  'swaps neighbours': (random, frames) => {
    const at = 1 + random.below(Math.max(1, frames.length - 2))
    const [one, other] = [frames[at], frames[at + 1]]
    if (one === undefined || other === undefined || blockOf(one) === blockOf(other)) return frames
    return frames.toSpliced(at, 2, other, one)
  },
}

/** The block that an event is about. Events of one block have an order of their own. */
const blockOf = (frame: string): string =>
  /"(?:output_)?index":(\d+)(?!.*"index")/.exec(frame)?.[1] ?? 'end'

async function ask(api: ModelWire, stub: StubModel, messages: Message[]) {
  const spec = { provider: 'acme', api, model: 'm', api_key: stubKey, base_url: stub.url }
  const call = { system: '', messages, tools: [bashSpec] }
  const blocks: AssistantBlock[] = []
  let last: ModelEvent | undefined
  const { signal } = new AbortController()
  for await (const event of openModel(spec).stream({ ...call, signal })) {
    if (event.type === 'block_end') blocks.push(event.block)
    last = event
  }
  return { blocks, last }
}

async function check(wire: ModelWire, stub: StubModel, seed: number): Promise<void> {
  const random = randomOf(seed)
  const { answer, meaning } = answerOf(random, wire)
  let frames = dialects[wire].frames(answer)
  const done: string[] = []
  for (let count = random.below(4); count > 0; count--) {
    const name = Object.keys(changes)[random.below(Object.keys(changes).length)] ?? ''
    // What was cut is not read again, and joined lines are no events to change.
    if (done.some((each) => /cuts|ends lines|joins/.test(each))) break
    frames = changes[name]?.(random, frames, wire) ?? frames
    done.push(name)
  }
  const body = frames.join('')
  const about = `${wire}, seed ${seed}: ${done.join(', ')}\n${JSON.stringify(meaning)}\n${body}`
  stub.replies({ body, contentType: 'text/event-stream' })
  const { blocks, last } = await ask(wire, stub, [userText('Hi')])
  checkAnswer(blocks, last, meaning, about)
  await checkNext(wire, stub, blocks, random.one(['', '\r\n', 'x\ud83d']), about)
}

/** What runs was whole, and nothing is lost without a word. */
function checkAnswer(
  blocks: readonly AssistantBlock[],
  last: ModelEvent | undefined,
  meaning: Meaning,
  about: string,
): void {
  const expected = [...meaning.whole]
  const calls = blocks.filter((block) => block.type === 'tool_call')
  for (const call of calls) {
    // No call of an answer that failed is run.
    if (call.fault !== undefined || last?.type !== 'end') continue
    const at = expected.indexOf(`${call.name} ${JSON.stringify(call.input)}`)
    assert.ok(
      at !== -1,
      `ran what was not whole: ${call.name} ${JSON.stringify(call.input)}\n${about}`,
    )
    expected.splice(at, 1)
  }
  if (last?.type === 'end') {
    const texts = blocks.filter((block) => block.type === 'text').map(({ text }) => text)
    assert.equal(texts.join('').trim(), meaning.said.trim(), `text vanished\n${about}`)
    // Two calls in one slot, of which the first has no end, may be one that says so.
    const isTold = calls.some(({ fault }) => fault !== undefined)
    assert.ok(calls.length >= meaning.calls || isTold, `a call vanished\n${about}`)
  } else assert.ok(last?.type === 'failed' && last.failure.message !== '', about)
}

/** The answer and its results can be sent back, twice over. */
async function checkNext(
  wire: ModelWire,
  stub: StubModel,
  blocks: AssistantBlock[],
  said: string,
  about: string,
): Promise<void> {
  const calls = blocks.filter((block) => block.type === 'tool_call')
  const origin = { provider: 'acme', api: wire, model: 'm' }
  const content = said === '' ? [] : [{ type: 'text' as const, text: said }]
  const history: Message[] = [
    userText('Hi'),
    ...(blocks.length > 0 ? [{ role: 'assistant' as const, content: blocks, origin }] : []),
    ...calls.map(({ id, name }) => ({
      ...{ role: 'tool_result' as const, tool_call_id: id, tool_name: name },
      ...{ content, is_error: false },
    })),
  ]
  stub.requests.length = 0
  await ask(wire, stub, [...history, ...history, userText('Go on.')])
  assert.deepEqual(brokenRules(wire, stub.requests[0]?.body ?? {}), [], about)
}

void describe('an answer that was changed at random', () => {
  for (const wire of modelWires) {
    void it(`runs nothing half, loses nothing silently and can be sent back over ${wire}`, async () => {
      await using stub = await startStub(dialects[wire])
      for (let seed = 1; seed <= casesOfWire; seed++) await check(wire, stub, seed)
    })
  }
})
