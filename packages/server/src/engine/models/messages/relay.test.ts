import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { processorMs } from '@steward/base/cost-fixture.ts'
import { relayEvents } from './relay.ts'
import { usageMeter } from './usage-meter.ts'

const started = {
  type: 'message_start',
  message: { id: 'm', model: 'wire', usage: { input_tokens: 9 } },
}
const delta = {
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: 'ü'.repeat(70) },
}
const counted = { type: 'message_delta', delta: {}, usage: { output_tokens: 4 } }
const stop = { type: 'message_stop' }

const frame = (event: { type: string }, hasName = true, end = '\n') =>
  `${hasName ? `event: ${event.type}${end}` : ''}data: ${JSON.stringify(event)}${end}${end}`

async function relayed(text: string, size: number) {
  const bytes = Buffer.from(text)
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.subarray(n * size, (n + 1) * size),
  )
  const meter = usageMeter(50)
  const frames: string[] = []
  for await (const each of relayEvents(Readable.from(pieces), 'handle', meter)) frames.push(each)
  return { frames, usage: meter.read(), outcome: meter.outcome() }
}

void describe('an answer that is passed on', () => {
  void it('is the same but for the name of the model, in pieces of any size and with any line ends', async () => {
    const events = [started, delta, counted, stop]
    const whole = await relayed(events.map((each) => frame(each)).join(''), 1_000_000)
    assert.ok(whole.frames[0]?.includes('"model":"handle"'))
    assert.deepEqual(
      whole.frames.slice(1),
      [delta, counted, stop].map((each) => frame(each)),
    )
    assert.deepEqual([whole.usage.input_tokens, whole.usage.output_tokens], [9, 4])
    for (const size of [1, 7, 64])
      for (const end of ['\n', '\r\n', '\r']) {
        const text = events.map((each) => frame(each, true, end)).join('')
        assert.deepEqual(await relayed(text, size), whole, `${size} ${JSON.stringify(end)}`)
      }
  })

  void it('is counted where a server omits the names of events', async () => {
    const text = [started, delta, counted, stop].map((each) => frame(each, false)).join('')
    const { usage, outcome } = await relayed(text, 100)
    assert.deepEqual([usage.input_tokens, usage.output_tokens, outcome], [9, 4, 'answered'])
  })

  void it('is counted by its length where it breaks off', async () => {
    const { usage, outcome } = await relayed(frame(started) + frame(delta), 100)
    assert.deepEqual([usage.input_tokens, outcome], [9, 'failed'])
    assert.ok(usage.output_tokens >= 20 && usage.output_tokens < 60, String(usage.output_tokens))
  })

  void it('is given up where one event is longer than two mebibytes', async () => {
    await assert.rejects(relayed(`data: ${'x'.repeat(3 * 2 ** 20)}`, 65_536), /more than 2 MiB/)
  })
})

void describe('what a request has used', () => {
  void it('is its estimated input when its caller goes before anything has come, and nothing when it was refused', () => {
    const left = usageMeter(50)
    left.leave()
    assert.deepEqual([left.read().input_tokens, left.outcome()], [50, 'interrupted'])
    assert.deepEqual(usageMeter(50).read().input_tokens, 0)
  })

  void it('costs no more in small pieces than in large ones, however long an event is', async () => {
    const long = { ...delta, delta: { type: 'text_delta', text: 'a'.repeat(1_900_000) } }
    const before = processorMs()
    const { frames } = await relayed(frame(long), 256)
    assert.deepEqual(frames, [frame(long)])
    assert.ok(processorMs() - before < 1_500, `${processorMs() - before} ms`)
  })

  void it('ignores counts that are no counts', () => {
    const meter = usageMeter(1)
    meter.saw({ input_tokens: -5, output_tokens: '7', cache_read_input_tokens: 3 })
    meter.end()
    assert.deepEqual(meter.read(), {
      input_tokens: 0,
      output_tokens: 0,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 0,
    })
  })
})
