/** The contract of every wire, with good and bad providers. Cases that a wire cannot have are skipped with a reason. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Message, type Model, type ModelEvent, type Usage, noUsage } from '../model.ts'
import { type ContractModel, type ContractScript, modelContract } from '../contract.ts'
import { openModel } from '../wire.ts'
import type { CloudAuthority } from '../cloud/authority.ts'
import type { ModelSpec } from '../spec.ts'
import { bashSpec, stubKey, readModelAnswer, userText } from '../stubs/read-answer.ts'
import {
  type StubAnswer,
  type StubDialect,
  type StubReply,
  type StubModel,
  type StubBlock,
  startStub,
} from '../stubs/stub-server.ts'

export type WireSubject = {
  dialect: StubDialect
  spec: Omit<ModelSpec, 'base_url' | 'api_key'>
  /** Names of these errors on the wire. */
  errors: { rateLimited: string; overloaded: string; invalid: string; authentication: string }
  overflowMessage: string
  callId: (n: number) => string
  signature: string
  authority?: CloudAuthority
  skip?: { reason: string; cases: string[] }[]
}

const hello: StubAnswer = { blocks: [{ type: 'text', pieces: ['Hel', 'lo'] }], stop: 'end_turn' }

export function wireContract(name: string, subject: WireSubject): void {
  const skipped = (title: string) =>
    subject.skip?.find((each) => each.cases.includes(title))?.reason
  type WireCase = (stub: StubModel, model: Model) => Promise<void>
  const check = (title: string, run: WireCase, more?: Partial<ModelSpec>) => {
    void it(title, { skip: skipped(title) }, async () => {
      await using stub = await startStub(subject.dialect)
      const spec = { ...subject.spec, base_url: stub.url, api_key: stubKey, ...more }
      await run(stub, openModel(spec, { authority: subject.authority }))
    })
  }
  const failure = async (stub: StubModel, model: Model, ...replies: StubReply[]) => {
    stub.replies(...replies)
    const { last } = await readModelAnswer(model, [userText('Hello')])
    assert.equal(last?.type, 'failed')
    return last.failure
  }
  const { errors } = subject

  modelContract(name, (script) => play(subject, script))

  void describe(`wire contract: ${name}`, () => {
    check('streams text piece by piece', async (stub, model) => {
      stub.replies(hello)
      const { events, blocks, last } = await readModelAnswer(model, [userText('Hello')])
      assert.deepEqual(
        events.filter((event) => event.type === 'delta').map((event) => event.delta),
        ['Hel', 'lo'],
      )
      assert.equal(blocks[0]?.type === 'text' && blocks[0].text, 'Hello')
      assert.equal(last?.type === 'end' && last.stop, 'end_turn')
      assert.equal(stub.requests[0]?.headers['user-agent'], 'steward/0.1')
    })

    check('counts what was read afresh apart from what a cache gave', async (stub, model) => {
      stub.replies({ ...hello, usage: { input: 100, output: 20, cacheRead: 900 } })
      const { last } = await readModelAnswer(model, [userText('Hello')])
      const usage: Usage = {
        ...noUsage,
        input_tokens: 100,
        output_tokens: 20,
        cache_read_input_tokens: 900,
      }
      assert.deepEqual(last?.type === 'end' && last.usage, usage)
    })

    check(
      'gives thinking back to the model that thought it, and to no other',
      async (stub, model) => {
        const thinking: StubBlock = {
          type: 'thinking',
          pieces: ['Let me ', 'see.'],
          signature: subject.signature,
        }
        stub.replies({ ...hello, blocks: [thinking, ...hello.blocks] })
        const { blocks } = await readModelAnswer(model, [userText('Hello')])
        assert.deepEqual(
          blocks.map((block) => block.type),
          ['thinking', 'text'],
        )
        assert.equal(blocks[0]?.type === 'thinking' && blocks[0].text, 'Let me see.')
        const said = (origin: Model['origin']): Message => ({
          role: 'assistant',
          content: blocks,
          origin,
        })
        await readModelAnswer(model, [userText('Hello'), said(model.origin), userText('More')])
        assert.match(JSON.stringify(stub.requests[1]?.body), /Let me see\./)
        assert.ok(
          JSON.stringify(stub.requests[1]?.body).includes(
            JSON.stringify(subject.signature).slice(1, -1),
          ),
        )
        await readModelAnswer(model, [
          userText('Hello'),
          said({ ...model.origin, model: 'another' }),
          userText('More'),
        ])
        assert.doesNotMatch(JSON.stringify(stub.requests[2]?.body), /Let me see\./)
        assert.match(JSON.stringify(stub.requests[2]?.body), /Hello/)
      },
    )

    check('calls tools in parallel and takes their results', async (stub, model) => {
      const calls = [1, 2].map((n) => ({
        type: 'tool_call' as const,
        id: subject.callId(n),
        name: 'bash',
        pieces: ['{"comm', `and":"echo ${n}"}`],
      }))
      stub.replies(
        { blocks: [{ type: 'text', pieces: ['Two.'] }, ...calls], stop: 'tool_use' },
        hello,
      )
      const { blocks, last } = await readModelAnswer(model, [userText('Run')], {
        tools: [bashSpec],
      })
      assert.equal(last?.type === 'end' && last.stop, 'tool_use')
      const made = blocks.filter((block) => block.type === 'tool_call')
      assert.deepEqual(
        made.map(({ name: tool, input }) => ({ tool, input })),
        [
          { tool: 'bash', input: { command: 'echo 1' } },
          { tool: 'bash', input: { command: 'echo 2' } },
        ],
      )
      assert.notEqual(made[0]?.id, made[1]?.id)
      const results = made.map(({ id }, n): Message => ({
        role: 'tool_result',
        tool_call_id: id,
        tool_name: 'bash',
        content: [{ type: 'text', text: `result ${n}` }],
        is_error: n === 1,
      }))
      const [first, second] = results
      assert.ok(first !== undefined && second !== undefined)
      const between: Message = { role: 'system', content: [{ type: 'text', text: 'Note well.' }] }
      const said: Message = { role: 'assistant', content: blocks, origin: model.origin }
      await readModelAnswer(model, [userText('Run'), said, first, between, second], {
        tools: [bashSpec],
      })
      const body = JSON.stringify(stub.requests[1]?.body)
      for (const text of ['result 0', 'result 1', 'echo 1', 'Note well.'])
        assert.ok(body.includes(text), text)
      assert.doesNotMatch(body, /No result provided/)
      assert.ok(
        body.indexOf('result 1') < body.indexOf('Note well.'),
        'a note waits for the results',
      )
    })

    check('names tools with their whole schema', async (stub, model) => {
      stub.replies(hello)
      await readModelAnswer(model, [userText('Hello')], { tools: [bashSpec] })
      assert.match(JSON.stringify(stub.requests[0]?.body), /"additionalProperties":false/)
    })

    check('takes pictures and documents, also as results', async (stub, model) => {
      const picture = { type: 'image', media_type: 'image/png', data: 'iVBORw0KGgo=' } as const
      const document = {
        type: 'document',
        media_type: 'application/pdf',
        data: 'RE9DVU1FTlQ=',
        title: 'plan.pdf',
      } as const
      const text = {
        type: 'document',
        media_type: 'text/plain',
        data: Buffer.from('plain words').toString('base64'),
      } as const
      const call = { type: 'tool_call', id: subject.callId(1), name: 'bash', input: {} } as const
      stub.replies(hello)
      await readModelAnswer(model, [
        { role: 'user', content: [picture, { type: 'text', text: 'See' }, document, text] },
        { role: 'assistant', content: [call], origin: model.origin },
        {
          role: 'tool_result',
          tool_call_id: call.id,
          tool_name: 'bash',
          content: [
            { type: 'text', text: 'Read' },
            { ...document, data: 'UkVTVUxU' },
            { ...picture, data: 'R0lGODlh' },
          ],
          is_error: false,
        },
        userText('Well?'),
      ])
      const body = JSON.stringify(stub.requests[0]?.body)
      for (const data of [picture.data, document.data, 'UkVTVUxU', 'R0lGODlh', 'plain words']) {
        assert.equal(body.split(data).length, 2, `${data} stands once in ${body}`)
      }
      assert.doesNotMatch(body, /\[[0-9a-f-]{36}:/, 'no marker is left')
    })

    check('begins every request with the one before it', async (stub, model) => {
      stub.replies(hello)
      const messages: Message[] = []
      for (let turn = 0; turn < 3; turn++) {
        messages.push(userText(`Turn ${turn}`))
        messages.push({ role: 'system', content: [{ type: 'text', text: `Note ${turn}` }] })
        const { blocks } = await readModelAnswer(model, messages, { tools: [bashSpec] })
        messages.push({ role: 'assistant', content: blocks, origin: model.origin })
      }
      const bodies = stub.requests.map(({ body }) => stable(body))
      for (const [i, body] of bodies.slice(1).entries()) {
        assert.ok(body.history.startsWith(bodies[i]?.history.slice(0, -1) ?? ''), body.history)
        assert.equal(body.rest, bodies[i]?.rest)
      }
    })

    check('says what it stopped for', async (stub, model) => {
      for (const stop of ['max_tokens', 'refusal'] as const) {
        stub.replies({ ...hello, stop })
        const { blocks, last } = await readModelAnswer(model, [userText('Hello')])
        assert.equal(last?.type === 'end' && last.stop, stop)
        assert.equal(blocks[0]?.type === 'text' && blocks[0].text, 'Hello')
      }
    })

    check('ends at once when aborted in the middle of a stream', async (stub, model) => {
      stub.replies({ answer: hello, frames: 3, after: 'hang' })
      const abort = new AbortController()
      const events: ModelEvent[] = []
      for await (const event of model.stream({
        system: '',
        messages: [userText('Hi')],
        tools: [],
        signal: abort.signal,
      })) {
        events.push(event)
        if (event.type === 'delta') abort.abort()
      }
      const last = events.at(-1)
      assert.equal(last?.type === 'failed' && last.failure.kind, 'aborted')
      assert.equal(events.filter((event) => event.type === 'failed').length, 1)
    })

    check('does not begin when already aborted', async (stub, model) => {
      stub.replies(hello)
      const { events } = await readModelAnswer(model, [userText('Hello')], {
        signal: AbortSignal.abort(),
      })
      assert.equal(events.length, 1)
      assert.equal(stub.requests.length, 0)
    })

    check('ends a call that is never answered by its signal', async (stub, model) => {
      stub.replies('hang')
      const { last } = await readModelAnswer(model, [userText('Hello')], {
        signal: AbortSignal.timeout(50),
      })
      assert.equal(last?.type === 'failed' && last.failure.kind, 'aborted')
    })

    check(
      'gives up on silence',
      async (stub, model) => {
        for (const reply of ['hang', { answer: hello, frames: 3, after: 'hang' }] as const) {
          const { kind, retryable } = await failure(stub, model, reply)
          assert.deepEqual({ kind, retryable }, { kind: 'unreachable', retryable: true })
        }
      },
      { idleTimeoutMs: 80 },
    )

    check('waits as long as a rate limit asks', async (stub, model) => {
      const got = await failure(stub, model, {
        status: 429,
        error: errors.rateLimited,
        message: 'Slow down',
        headers: { 'retry-after': '7' },
      })
      assert.deepEqual(
        { ...got, retryAfterMs: 7000 },
        {
          kind: 'rate_limited',
          retryable: true,
          status: 429,
          message: 'Slow down',
          retryAfterMs: 7000,
        },
      )
      if (skipped('retry-after header') === undefined) assert.equal(got.retryAfterMs, 7000)
    })

    check('distinguishes overload, failure, mistakes and bad keys', async (stub, model) => {
      const cases: [number, string, string, boolean][] = [
        [529, errors.overloaded, 'overloaded', true],
        [503, errors.overloaded, 'overloaded', true],
        [500, 'internal', 'request_failed', true],
        [400, errors.invalid, 'request_failed', false],
        [404, errors.invalid, 'request_failed', false],
        [402, errors.invalid, 'billing', false],
        [401, errors.authentication, 'authentication', false],
        [403, errors.authentication, 'authentication', false],
      ]
      for (const [status, error, kind, retryable] of cases) {
        const got = await failure(stub, model, { status, error, message: `Not with ${stubKey}` })
        assert.deepEqual(got, {
          kind,
          retryable,
          status,
          message: `Not with ${'*'.repeat(stubKey.length)}`,
        })
      }
    })

    check('knows a full context window', async (stub, model) => {
      const message = subject.overflowMessage
      const got = await failure(stub, model, { status: 400, error: errors.invalid, message })
      assert.deepEqual([got.kind, got.retryable], ['context_overflow', false])
    })

    check('makes nothing of garbage', async (stub, model) => {
      for (const contentType of ['text/html', 'text/event-stream', 'application/json']) {
        for (const body of ['', '<html>busy</html>', 'data: {"half":\n\n', '{"ok":true}']) {
          const got = await failure(stub, model, { body, contentType })
          assert.deepEqual(
            [got.kind, got.retryable],
            ['unreachable', true],
            `${contentType} ${body}`,
          )
        }
      }
    })

    check('says so when the connection is cut', async (stub, model) => {
      stub.replies({ answer: hello, frames: 3, after: 'cut' })
      const { events, last } = await readModelAnswer(model, [userText('Hello')])
      assert.deepEqual(last?.type === 'failed' && [last.failure.kind, last.failure.retryable], [
        'unreachable',
        true,
      ])
      assert.ok(
        events.some((event) => event.type === 'delta'),
        'what had come was given out',
      )
    })

    check('says so when nobody listens', async (stub, model) => {
      await stub[Symbol.asyncDispose]()
      const { last } = await readModelAnswer(model, [userText('Hello')])
      assert.deepEqual(last?.type === 'failed' && [last.failure.kind, last.failure.retryable], [
        'unreachable',
        true,
      ])
    })
  })
}

/**
 * Splits a request into its growing part and the rest, without cache breakpoints, which move and are no part of a key.
 */
function stable(body: Record<string, unknown>): { history: string; rest: string } {
  const { messages, input, contents, ...rest } = body
  const text = JSON.stringify(messages ?? input ?? contents).replaceAll(
    /,"cache_control":\{[^}]*\}/g,
    '',
  )
  return { history: text, rest: JSON.stringify(rest) }
}

/** A provider that answers as the script says. */
async function play(subject: WireSubject, script: ContractScript): Promise<ContractModel> {
  const stub = await startStub(subject.dialect)
  const blocks: StubBlock[] = []
  if (script.thinking !== undefined) {
    blocks.push({ type: 'thinking', pieces: [script.thinking], signature: subject.signature })
  }
  if (script.text !== undefined) {
    blocks.push({ type: 'text', pieces: script.text.match(/\S+\s*/g) ?? [] })
  }
  if (script.call !== undefined) {
    const pieces = JSON.stringify(script.call.input).match(/[^]{1,5}/g) ?? []
    blocks.push({ type: 'tool_call', id: subject.callId(1), name: script.call.name, pieces })
  }
  const answer: StubAnswer = { blocks, stop: script.stop ?? 'end_turn' }
  if (script.fail === undefined) stub.replies(answer)
  else {
    const [status, error, message] = failing(subject)[script.fail]
    stub.replies({ status, error, message })
  }
  return {
    model: openModel(
      { ...subject.spec, base_url: stub.url, api_key: stubKey },
      { authority: subject.authority },
    ),
    messages: [userText('Hello')],
    [Symbol.asyncDispose]: () => stub[Symbol.asyncDispose](),
  }
}

function failing({ errors, overflowMessage }: WireSubject) {
  return {
    overloaded: [529, errors.overloaded, 'Busy'],
    rate_limited: [429, errors.rateLimited, 'Slow down'],
    authentication: [401, errors.authentication, 'Who?'],
    context_overflow: [400, errors.invalid, overflowMessage],
  } as const
}
