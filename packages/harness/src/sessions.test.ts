/** Whole sessions at random: turns that talk, call, ask, fail, are interrupted or die at any step. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { AssistantBlock, Message } from '@steward/model/model.ts'
import {
  call,
  plainSurroundings,
  newEventId,
  text,
  thinking,
  tool,
  untilAborted,
  userMessage,
} from './fixture.ts'
import { fakeModel } from './fake-model.ts'
import type { ScriptedAnswer } from './fake-model.ts'
import { emptyHistory, foldHistory, buildMessages } from './history.ts'
import type { KeptEvent } from './kept-event.ts'
import { runTurn } from './loop.ts'
import { textResult } from './tools/tool.ts'
import type { OpenCall } from './turn.ts'

/** Numbers from 0 to 1 that are the same for the same seed. */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const tools = [
  tool('quick', { sandbox: 'read', repeat: 'safe' }),
  tool('slow', {
    sandbox: 'changed',
    run: async (_, { signal }) => {
      for (let tick = 0; tick < 5 && !signal.aborted; tick++) await Promise.resolve()
      return signal.aborted ? textResult('interrupted', true) : textResult('slow ran')
    },
  }),
  tool('endless', { run: (_, { signal }) => untilAborted(signal) }),
  tool('throws', { run: () => Promise.reject(new Error('bug')) }),
  tool('careful', { permission: 'ask' }),
  tool('theirs', { runs: 'client' }),
]
const names = ['quick', 'quick', 'slow', 'throws', 'careful', 'theirs', 'unheard-of']

function* script(random: () => number): Generator<ScriptedAnswer> {
  const pick = (): AssistantBlock => {
    const at = random()
    if (at < 0.3) return text(at < 0.03 ? '' : `said ${at}`)
    if (at < 0.45) return thinking('hm', `sig ${at}`)
    return call(names[Math.floor(random() * names.length)] ?? '', { at })
  }
  for (;;) {
    const blocks = Array.from({ length: 1 + Math.floor(random() * 4) }, pick)
    const fate = random()
    if (fate < 0.7) yield { blocks }
    else if (fate < 0.78) yield { blocks, end: 'max_tokens' }
    else if (fate < 0.82) yield { blocks, end: 'refusal' }
    else if (fate < 0.92) {
      const retryable = random() < 0.8
      yield { blocks, end: { kind: 'overloaded', retryable, message: 'busy' } }
    } else yield { blocks, half: { block: 'text', text: 'I was' }, end: 'hang' }
  }
}

type AgentUse = 'agent.tool_use' | 'agent.custom_tool_use'

/** The log as a runner keeps it, and the runner's work between turns. */
function session(random: () => number) {
  const log: KeptEvent[] = []
  const model = fakeModel(script(random))
  const isUse = (kept: KeptEvent): kept is KeptEvent & { event: { type: AgentUse } } =>
    kept.event.type === 'agent.tool_use' || kept.event.type === 'agent.custom_tool_use'
  const answered = () =>
    new Set(
      log.flatMap(({ event }) => {
        if (event.type === 'agent.tool_result') return event.tool_use_id
        return event.type === 'user.custom_tool_result' ? event.custom_tool_use_id : []
      }),
    )
  const unanswered = () => {
    const known = answered()
    return log.filter(isUse).filter(({ event }) => !known.has(event.id))
  }
  const waits = ({ event }: { event: Extract<KeptEvent['event'], { type: AgentUse }> }) =>
    event.type === 'agent.custom_tool_use' || event.evaluated_permission === 'ask'
  const respond = (id: string, isCustom: boolean) => {
    const answer = { id: newEventId(), content: [{ type: 'text' as const, text: 'answer' }] }
    log.push({
      event: isCustom
        ? { ...answer, type: 'user.custom_tool_result', custom_tool_use_id: id }
        : { ...answer, type: 'agent.tool_result', tool_use_id: id, is_error: true },
    })
  }

  /** Answers waiting calls as a person or client; undefined while a call still waits. */
  function decide(afterCrash: boolean): OpenCall[] | undefined {
    const open: OpenCall[] = []
    for (const each of unanswered()) {
      const { id: event_id, name, input, type } = each.event
      const base = { event_id, name, input }
      if (!waits(each)) open.push({ ...base, decision: afterCrash ? 'lost' : 'run' })
      else if (type === 'agent.custom_tool_use') respond(event_id, true)
      else open.push({ ...base, decision: random() < 0.5 ? 'run' : 'deny' })
    }
    return open
  }

  async function turn(open: OpenCall[]): Promise<'ended' | 'died'> {
    const stop = new AbortController()
    const steps = runTurn({
      ...plainSurroundings,
      system: '',
      history: foldHistory(emptyHistory(), log),
      model,
      tools,
      open,
      cacheKey: 'k',
      maxRequests: 6,
      retryDelaysMs: [1],
      sleep: async () => {},
      newEventId,
      signal: stop.signal,
      report: () => {},
    })
    // Only an interrupt ends a hanging answer.
    const idle = setTimeout(() => stop.abort(), 20)
    try {
      for (;;) {
        if (random() < 0.02) stop.abort()
        const { done, value } = await steps.next()
        if (done) {
          log.push(...value.last)
          return 'ended'
        }
        if (random() < 0.03) return 'died'
        if (value.type === 'keep') log.push(...value.kept)
      }
    } finally {
      clearTimeout(idle)
      stop.abort()
      await steps.return({ stop: { type: 'end_turn' }, last: [] })
    }
  }

  return { log, model, decide, turn, unanswered, respond, waits }
}

/** Every call has exactly one result, directly behind its message and in order; no result is without a call. */
function assertValid(messages: readonly Message[]): void {
  let due: string[] = []
  for (const message of messages) {
    if (message.role === 'tool_result') {
      assert.equal(message.tool_call_id, due.shift())
      continue
    }
    assert.deepEqual(due, [])
    if (message.role !== 'assistant') continue
    due = message.content.flatMap((block) => (block.type === 'tool_call' ? block.id : []))
    assert.equal(new Set(due).size, due.length)
    assert.ok(message.content.length > 0)
  }
  assert.deepEqual(due, [])
}

for (const seed of Array.from({ length: 60 }, (_, index) => index + 1)) {
  void it(`keeps the history valid and only ever adds to it, whatever happens (${seed})`, async () => {
    const random = chance(seed)
    const { log, model, decide, turn, unanswered, respond, waits } = session(random)
    let outcome: 'ended' | 'died' = 'ended'
    for (let round = 0; round < 12; round++) {
      const open = decide(outcome === 'died') ?? []
      if (outcome === 'ended' && open.length === 0) log.push(userMessage(`message ${round}`))
      outcome = await turn(open)
      if (outcome === 'ended' && random() < 0.3) {
        // An interrupt between turns closes waiting calls.
        for (const each of unanswered()) respond(each.event.id, waits(each) && isCustom(each))
      }
    }
    assert.equal(model.open(), 0)
    const seen = model.calls.map(({ messages }) => messages)
    for (const [index, messages] of seen.entries()) {
      assertValid(messages)
      const before = seen[index - 1] ?? []
      assert.equal(
        JSON.stringify(messages.slice(0, before.length)),
        JSON.stringify(before),
        `request ${index} does not begin with the one before it`,
      )
    }
    const whole = buildMessages(foldHistory(emptyHistory(), log))
    assertValid(whole)
    let bit = emptyHistory()
    for (const kept of log) bit = foldHistory(bit, [kept])
    assert.equal(JSON.stringify(buildMessages(bit)), JSON.stringify(whole))
  })
}

const isCustom = ({ event }: KeptEvent): boolean => event.type === 'agent.custom_tool_use'
