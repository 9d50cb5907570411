import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Context } from '@opentelemetry/api'
import { ProxyTracerProvider, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { turnBegun, turnEnded } from '../../engine/runner/observations.ts'
import { memoryBus } from '../../ground/bus/memory.ts'
import {
  callerFound,
  requestAnswered,
  requestStarted,
} from '../../ground/http/request-observations.ts'
import { causesOver } from './causes.ts'
import { followWork } from './spans.ts'

const requestOf = (digit: string) => ({
  traceId: digit.repeat(32),
  spanId: digit.repeat(16),
  traceFlags: 1,
})

void describe('causes of turns', () => {
  void it('are known to all processes until the turn of the newest request has ended', () => {
    const bus = memoryBus()
    const [here, there] = [causesOver(bus, 10), causesOver(bus, 10)]
    here.set('s', requestOf('a'))
    assert.equal(there.get('s')?.traceId, 'a'.repeat(32))
    here.set('s', requestOf('b'))
    there.forget('s', requestOf('a'))
    assert.equal(here.get('s')?.traceId, 'b'.repeat(32))
    there.forget('s', requestOf('b'))
    assert.equal(here.get('s'), undefined)
    there.stop()
    here.set('s', requestOf('c'))
    assert.equal(there.get('s'), undefined)
  })

  void it('are no requests without a good credential, and none that was refused', () => {
    const parents: (string | undefined)[] = []
    const tracer = new ProxyTracerProvider().getTracer('test')
    const startSpan: typeof tracer.startSpan = (name, options, context?: Context) => {
      if (name.startsWith('invoke_agent'))
        parents.push(context && trace.getSpanContext(context)?.traceId)
      return tracer.startSpan(name, options, context)
    }
    const told = { startSpan, startActiveSpan: tracer.startActiveSpan.bind(tracer) }
    const work = followWork(told, causesOver(memoryBus(), 10), (error) =>
      assert.fail(String(error)),
    )
    const begin = (requestId: string, digit: string) =>
      requestStarted.tell({
        requestId,
        method: 'POST',
        route: '/v1/sessions/:id/events',
        session: 's',
        traceparent: `00-${digit.repeat(32)}-${digit.repeat(16)}-01`,
      })
    const answer = { method: 'POST', route: undefined, ms: 1, isStream: false }
    const turn = () => turnBegun.tell({ session: 's', agent: 'a', provider: 'p', model: 'm' })
    begin('1', '1')
    turn()
    begin('2', '2')
    callerFound.tell({ requestId: '2' })
    requestAnswered.tell({
      ...answer,
      requestId: '2',
      status: 404,
      tenant: undefined,
      keyId: undefined,
    })
    turn()
    begin('3', '3')
    callerFound.tell({ requestId: '3' })
    turn()
    work.stop()
    assert.deepEqual(parents, [undefined, undefined, '3'.repeat(32)])
  })

  void it('lead on to the turn that continues an earlier one, and its span says so', () => {
    const ended: ReadableSpan[] = []
    const none = async () => {}
    const processor = { onStart() {}, forceFlush: none, shutdown: none }
    const provider = new TracerProvider({
      spanProcessors: [{ ...processor, onEnd: (span) => void ended.push(span) }],
    })
    const tracer = provider.getTracer('test')
    const work = followWork(tracer, causesOver(memoryBus(), 10), (error) =>
      assert.fail(String(error)),
    )
    const route = '/v1/sessions/:id/events'
    requestStarted.tell({ requestId: '1', method: 'POST', route, session: 's', traceparent: '' })
    callerFound.tell({ requestId: '1' })
    for (const stop of ['left', 'end_turn'] as const) {
      turnBegun.tell({ session: 's', agent: 'a', provider: 'p', model: 'm' })
      turnEnded.tell({ session: 's', stop, ms: 1 })
    }
    work.stop()
    assert.deepEqual(
      ended.map(({ attributes }) => attributes['error.type']),
      ['restart', undefined],
    )
    const traces = new Set(ended.map((span) => span.spanContext().traceId))
    assert.equal(traces.size, 1)
  })
})
