/** The contract of every model, however it gets its answers. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AssistantBlock, Message, Model, ModelEvent, ModelFailure, Usage } from './model.ts'
import { bashSpec, readModelAnswer, userText } from './stubs/read-answer.ts'

/** An answer that the model under test must give. */
export type ContractScript = {
  thinking?: string
  text?: string
  call?: { name: string; input: Record<string, unknown> }
  stop?: Extract<ModelEvent, { type: 'end' }>['stop']
  fail?: 'overloaded' | 'rate_limited' | 'authentication' | 'context_overflow'
}

export type ContractModel = AsyncDisposable & { model: Model; messages: Message[] }

export function modelContract(
  name: string,
  play: (script: ContractScript) => Promise<ContractModel>,
): void {
  const ask = async (script: ContractScript) => {
    await using played = await play(script)
    return await readModelAnswer(played.model, played.messages, { tools: [bashSpec] })
  }

  void describe(`model contract: ${name}`, () => {
    void it('gives text in pieces and then as a whole', async () => {
      const { events, blocks, last } = await ask({ text: 'one two three' })
      assert.ok(events.filter((event) => event.type === 'delta').length >= 3)
      assert.deepEqual(blocks.map(shown), [{ type: 'text', text: 'one two three' }])
      assert.equal(last?.type === 'end' && last.stop, 'end_turn')
    })

    void it('gives thinking before what it thought of', async () => {
      const { blocks } = await ask({ thinking: 'Let me see.', text: 'Yes.' })
      assert.deepEqual(blocks.map(shown), [
        { type: 'thinking', text: 'Let me see.' },
        { type: 'text', text: 'Yes.' },
      ])
    })

    void it('calls a tool and goes on from its result', async () => {
      const call = { name: 'bash', input: { command: 'echo "a\nb"' } }
      await using played = await play({ text: 'So.', call, stop: 'tool_use' })
      const { blocks, last } = await readModelAnswer(played.model, played.messages, {
        tools: [bashSpec],
      })
      assert.equal(last?.type === 'end' && last.stop, 'tool_use')
      const made = blocks.find((block) => block.type === 'tool_call')
      assert.ok(made !== undefined && made.id !== '')
      assert.deepEqual({ name: made.name, input: made.input }, call)
      const result: Message = {
        role: 'tool_result',
        tool_call_id: made.id,
        tool_name: made.name,
        content: [{ type: 'text', text: 'a\nb' }],
        is_error: false,
      }
      const said: Message = { role: 'assistant', content: blocks, origin: played.model.origin }
      const next = await readModelAnswer(played.model, [...played.messages, said, result], {
        tools: [bashSpec],
      })
      assert.equal(next.last?.type, 'end')
    })

    void it('takes histories with everything in them, from any model', async () => {
      await using played = await play({ text: 'Yes.' })
      const other = { provider: 'other', api: 'other', model: 'other' }
      const call: AssistantBlock = {
        type: 'tool_call',
        id: 'x|y',
        name: 'bash',
        input: {},
        state: 's',
      }
      const history: Message[] = [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image', media_type: 'image/png', data: 'AAAA' },
            { type: 'document', media_type: 'application/pdf', data: 'AAAA' },
            { type: 'document', media_type: 'text/plain', data: 'AAAA', title: 't', context: 'c' },
          ],
        },
        {
          role: 'assistant',
          origin: other,
          content: [
            { type: 'thinking', text: 'Hm', state: 's' },
            { type: 'thinking', text: '', redacted: true, state: 's' },
            { type: 'text', text: 'Yes', state: 's' },
            call,
          ],
        },
        {
          role: 'tool_result',
          tool_call_id: 'x|y',
          tool_name: 'bash',
          content: [{ type: 'image', media_type: 'image/png', data: 'AAAA' }],
          is_error: true,
        },
        { role: 'system', content: [{ type: 'text', text: 'Note' }] },
        userText('\ud800 half a character'),
        ...played.messages,
      ]
      assert.equal((await readModelAnswer(played.model, history)).last?.type, 'end')
    })

    void it('says what it stopped for', async () => {
      for (const stop of ['max_tokens', 'refusal'] as const) {
        const { last } = await ask({ text: 'No', stop })
        assert.equal(last?.type === 'end' && last.stop, stop)
      }
    })

    void it('counts its tokens', async () => {
      const { last } = await ask({ text: 'one two three' })
      assert.ok(last?.type === 'end')
      const counts: Usage = last.usage
      assert.ok(counts.input_tokens > 0 && counts.output_tokens > 0)
      assert.ok(Object.values(counts).every((count) => Number.isInteger(count) && count >= 0))
    })

    void it('distinguishes failures, and which may pass', async () => {
      const retryable: Partial<Record<ModelFailure['kind'], boolean>> = {
        overloaded: true,
        rate_limited: true,
        authentication: false,
        context_overflow: false,
      }
      for (const fail of [
        'overloaded',
        'rate_limited',
        'authentication',
        'context_overflow',
      ] as const) {
        const { last } = await ask({ fail })
        assert.ok(last?.type === 'failed')
        assert.deepEqual([last.failure.kind, last.failure.retryable], [fail, retryable[fail]])
        assert.notEqual(last.failure.message, '')
      }
    })

    void it('says nothing after an abort but that it was aborted', async () => {
      await using played = await play({ text: 'one two three' })
      for (const when of ['before', 'at the first delta']) {
        const abort = new AbortController()
        if (when === 'before') abort.abort()
        const events: ModelEvent[] = []
        const call = { system: '', messages: played.messages, tools: [], signal: abort.signal }
        for await (const event of played.model.stream(call)) {
          events.push(event)
          if (event.type === 'delta') abort.abort()
        }
        const last = events.at(-1)
        assert.ok(last?.type === 'failed' && last.failure.kind === 'aborted', when)
        assert.equal(
          events.filter(({ type }) => type === 'delta').length,
          when === 'before' ? 0 : 1,
        )
      }
    })

    void it('may be ended in the middle', async () => {
      await using played = await play({ text: 'one two three' })
      const signal = new AbortController().signal
      const call = { system: '', messages: played.messages, tools: [], signal }
      for await (const event of played.model.stream(call)) if (event.type === 'delta') break
    })

    void it('describes itself', async () => {
      await using played = await play({})
      const { model } = played
      assert.ok(model.contextWindow > 0 && model.maxOutputTokens > 0)
      assert.ok(model.input.includes('text'))
    })
  })
}

function shown(block: AssistantBlock): unknown {
  const { state: _, ...rest } = block
  return rest
}
