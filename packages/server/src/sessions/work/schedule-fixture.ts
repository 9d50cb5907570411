/**
 * For tests: one random schedule of everything that can happen to claimed work. Each step is compared with the model.
 */
import assert from 'node:assert/strict'
import type { StopReason } from '@steward/protocol/events.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import { tenant } from '../log/fixture.ts'
import { getHeadForUpdate } from '../log/head.ts'
import { idleEntries } from '../log/idle.ts'
import { takeWaiting, readWaiting } from '../log/inbox.ts'
import { appendEntries } from '../log/append.ts'
import { postEvents } from '../events/post.ts'
import { archiveSession } from '../update.ts'
import { checkWritingClaim } from './claim.ts'
import type { ModelItem, ModelSession, ModelWorker } from './model-fixture.ts'
import {
  judgeBeat,
  endIt,
  isFree,
  isOwn,
  liveOf,
  mayAct,
  noBeat,
  owesWork,
  putItem,
  restIt,
  stopIt,
  takeItem,
  acceptAcknowledgement,
} from './model-fixture.ts'
import type { Random } from './random-fixture.ts'
import { claimState } from './item.ts'
import { claimOrEnd } from './claim-fixture.ts'
import { acknowledgeItem, beatItem, stopItem, withdrawItem } from './queue.ts'
import { workStore } from './store.ts'

const idleMs = 60_000

type Grant = { session: string; item: ModelItem; id: string; generation: number; last: string }
export type Schedule = {
  database: Database
  clock: { now: number }
  random: Random
  environment: string
  sessions: Map<string, ModelSession>
  /**
   * Every claim that a worker was given. A worker can use its claim again after a crash or after the loss of its lease.
   */
  claims: Grant[]
  calls: Map<string, { session: string; by: string | undefined }>
  /** When each named worker polled last. */
  seen: Map<string, number>
}

/** Three workers with one key, one of them without a name, and one worker with another key. */
const workers: readonly ModelWorker[] = [
  { key: 'key_1', id: 'first' },
  { key: 'key_1', id: 'second' },
  { key: 'key_1', id: undefined },
  { key: 'key_2', id: 'third' },
]
const anyone: ModelWorker = { key: 'key_1', id: undefined }
const presentMs = 30_000

const kindOf = async (what: Promise<unknown>): Promise<string> =>
  what.then(
    () => 'ok',
    (error: unknown) => {
      if (error instanceof PlatformError) return error.kind
      throw error
    },
  )

const sessionOf = ({ sessions }: Schedule, id: string): ModelSession => {
  const session = sessions.get(id)
  assert.ok(session)
  return session
}

const principal = (world: Schedule, { session, id, generation }: Grant) => ({
  ...{ kind: 'claim' as const, tenant, claimState: 'current' as const, generation },
  ...{ environmentId: world.environment, sessionId: session, workId: id },
})

/** The worker's view of the other workers, when it polls. */
async function asking({ database, environment, clock, seen }: Schedule, by: ModelWorker) {
  const { now } = clock
  if (by.id !== undefined) {
    const one = { environment_id: environment, worker_id: by.id, seen_ms: now }
    await database.write((tx) => workStore(tx).seen(tenant, [one]))
    seen.set(by.id, now)
  }
  return { by, isAlone: ![...seen].some(([id, at]) => id !== by.id && at > now - presentMs) }
}

/** Undefined when there was nothing to claim. */
async function poll(
  world: Schedule,
  reclaimMs: number,
  by: ModelWorker = anyone,
): Promise<Grant | undefined> {
  const { database, environment, sessions, clock } = world
  const { now } = clock
  const at = { now, reclaimMs, ...(await asking(world, by)) }
  const free = [...sessions].flatMap(([id, session]) => {
    const live = liveOf(session)
    return live && isFree(live, at) ? [{ id, isOwn: isOwn(live, by) }] : []
  })
  const { item: got, ended } = await claimOrEnd(database, tenant, environment, at)
  for (const { id, session_id } of ended) {
    const session = sessionOf(world, session_id)
    const item = liveOf(session)
    assert.ok(item && isFree(item, at), 'ended, and not to be had')
    assert.equal(item.id ?? id, id)
    assert.equal(takeItem(session, item, at), false, 'ended, and not let go so often')
  }
  const left = free.filter(({ id }) => !ended.some(({ session_id }) => session_id === id))
  if (!got) {
    assert.deepEqual(left, [], 'work that was to be had was not handed out')
    return undefined
  }
  const handed = left.find(({ id }) => id === got.session_id)
  assert.ok(
    handed,
    `handed out, and not to be had: ${JSON.stringify([now, got, sessions.get(got.session_id)])}`,
  )
  if (handed.isOwn)
    assert.ok(
      left.every((each) => each.isOwn),
      'offered first to who let it lapse',
    )
  const session = sessionOf(world, got.session_id)
  const item = liveOf(session)
  assert.ok(item)
  item.id ??= got.id
  assert.ok(takeItem(session, item, at), 'handed out once too often')
  assert.deepEqual([got.id, got.generation], [item.id, item.generation])
  const claim = { session: got.session_id, item, id: got.id, generation: got.generation }
  world.claims.push({ ...claim, last: noBeat })
  return { ...claim, last: noBeat }
}

async function beats(world: Schedule, claim: Grant, expected: string | undefined, isLost: boolean) {
  const { database, environment, clock, random } = world
  const { now } = clock
  const { item, generation } = claim
  const ttlMs = random.of([90_000, 90_000, 1, 10_000, 10 ** 9]) ?? 0
  const said = judgeBeat(
    sessionOf(world, claim.session),
    item,
    { generation, expected, ttlMs },
    {
      ...{ now, idleMs },
    },
  )
  const ref = { tenant, environment, id: claim.id }
  const how = { by: { generation }, expected, ttlMs }
  const beaten = beatItem(database, ref, how, { now, idleMs })
  if (said === 'fenced') {
    assert.equal(await kindOf(beaten), 'precondition_failed')
    return
  }
  const { last_heartbeat, lease_extended, state } = await beaten
  assert.equal(lease_extended, said !== 'ending')
  assert.equal(state, item.phase)
  if (said === 'again') assert.equal(last_heartbeat, item.beats[0])
  if (said === 'next') {
    assert.ok(!item.beats.includes(last_heartbeat), 'a beat like one before')
    item.beats = [last_heartbeat, item.beats[0]]
  }
  if (!isLost && said !== 'ending') claim.last = last_heartbeat
}

async function stops(world: Schedule, claim: Grant, generation: number | null, force: boolean) {
  const { database, environment, clock } = world
  const { now } = clock
  const session = sessionOf(world, claim.session)
  const said = stopIt(session, claim.item, { generation, force }, now)
  const by = generation === null ? 'key' : { generation }
  const ref = { tenant, environment, id: claim.id }
  const stopped = database.write((tx) => stopItem(tx, ref, { by, force }, now))
  if (said === 'fenced') assert.equal(await kindOf(stopped), 'precondition_failed')
  else assert.equal((await stopped).state, said)
}

/** Posts a result under a claim, for any earlier call, like the events route. */
async function answers(world: Schedule, claim: Grant, call: string): Promise<void> {
  const { database, clock, calls } = world
  const { now } = clock
  const session = sessionOf(world, claim.session)
  const text = `by ${claim.id} ${claim.generation} at ${now}`
  const content = [{ type: 'text' as const, text }]
  const event = { type: 'user.tool_result' as const, tool_use_id: call, content }
  const posted = kindOf(
    database.write(async (tx) => {
      await checkWritingClaim(tx, principal(world, claim), now)
      return postEvents(tx, tenant, claim.session, [event], now)
    }),
  )
  if (!mayAct(claim.item, claim.generation, now)) {
    assert.equal(await posted, 'unauthorized', 'one that is no owner was heard')
    return
  }
  // A call keeps its first result. The same result again is accepted; another one is refused.
  const earlier = calls.get(call)?.by
  const isRefused = session.status === 'done' || (earlier !== undefined && earlier !== text)
  assert.equal(await posted, isRefused ? 'invalid_request' : 'ok')
  if (isRefused) return
  claim.item.attempts = 0
  if (session.call !== call) return
  Object.assign(session, { call: undefined, due: true })
  calls.set(call, { session: claim.session, by: text })
}

async function says(world: Schedule, id: string): Promise<void> {
  const { database, clock } = world
  const { now } = clock
  const session = sessionOf(world, id)
  const content = [{ type: 'text' as const, text: 'go on' }]
  const events = [{ type: 'user.message' as const, content }]
  const posted = kindOf(database.write((tx) => postEvents(tx, tenant, id, events, now)))
  assert.equal(await posted, session.status === 'done' ? 'invalid_request' : 'ok')
  if (session.status === 'done') return
  session.messages++
  if (session.call === undefined || session.status === 'running') session.due = true
  putItem(session, now)
}

/** Half a turn: its start, a tool call after a message, or its end. */
async function runs(world: Schedule, id: string): Promise<void> {
  const { database, clock, calls } = world
  const { now } = clock
  const session = sessionOf(world, id)
  if (session.status === 'done' || (session.status === 'idle' && !session.due)) return
  const call = `sevt_${id}_${calls.size}`
  const isBeginning = session.status === 'idle'
  const asks = session.messages > 0
  await database.write((tx) =>
    halfTurn(tx, id, now, { isBeginning, call: asks ? call : undefined }),
  )
  if (isBeginning) {
    Object.assign(session, { status: 'running', due: false })
    return
  }
  Object.assign(session, { status: 'idle', idleSince: now, due: false })
  if (!asks) return restIt(session)
  session.call = call
  session.messages = 0
  calls.set(call, { session: id, by: undefined })
}

async function halfTurn(
  tx: Queries,
  id: string,
  now: number,
  { isBeginning, call }: { isBeginning: boolean; call: string | undefined },
): Promise<void> {
  const head = await getHeadForUpdate(tx, tenant, id)
  if (isBeginning) {
    const event = { id: `sevt_run_${id}_${head.next_seq}`, type: 'session.status_running' } as const
    await appendEntries(tx, tenant, id, [{ event }], { now, due: false })
    return
  }
  const messages = await readWaiting(tx, tenant, id)
  await takeWaiting(tx, tenant, id, messages.at(-1)?.position ?? 0)
  const use = call && {
    ...{ id: call, type: 'agent.tool_use' as const, name: 'bash', input: {} },
    ...{ evaluated_permission: 'allow' as const, executed_by: 'worker' as const },
  }
  const stop: StopReason = call
    ? { type: 'requires_action', event_ids: [call] }
    : { type: 'end_turn' }
  const entries = [...(use ? [{ event: use }] : []), ...idleEntries(head, stop, now)]
  await appendEntries(tx, tenant, id, entries, { now, due: false })
  if (!call) await withdrawItem(tx, tenant, id, now)
}

async function archives(world: Schedule, id: string): Promise<void> {
  const { database, clock } = world
  const { now } = clock
  const session = sessionOf(world, id)
  const archived = await kindOf(database.write((tx) => archiveSession(tx, tenant, id, now)))
  assert.equal(archived, session.status === 'running' ? 'invalid_request' : 'ok')
  if (archived === 'ok' && session.status !== 'done') endIt(session, now)
}

/** Tries every claim that ever existed. At most one claim of a session may act. */
async function probe(world: Schedule): Promise<void> {
  const { database, environment, clock, claims } = world
  const owners = new Map<string, string>()
  for (const { id, session, generation, item } of claims) {
    const row = await workStore(database.read).find(tenant, environment, id)
    const stands = row !== undefined && claimState(row, generation, clock.now) === 'current'
    assert.equal(stands, mayAct(item, generation, clock.now))
    if (!stands) continue
    const owner = `${id} ${generation}`
    assert.equal(owners.get(session) ?? owner, owner, 'two own a session')
    owners.set(session, owner)
  }
}

function beatsSomehow(world: Schedule, claim: Grant): Promise<void> {
  const { random } = world
  const [newest, before] = claim.item.beats
  const other = random.of([noBeat, newest, before, 'of nobody', undefined])
  return beats(world, claim, random.chance(0.6) ? claim.last : other, random.chance(0.2))
}

export async function stepSchedule(world: Schedule): Promise<void> {
  const { random, claims, sessions, calls } = world
  const session = random.of([...sessions.keys()]) ?? ''
  const dice = random.below(100)
  if (dice < 20) {
    const reclaimMs = random.of([5_000, 5_000, 1, 60_000]) ?? 0
    return void (await poll(world, reclaimMs, random.of(workers)))
  }
  if (dice < 30) return says(world, session)
  if (dice < 45) return runs(world, session)
  if (dice < 46) return archives(world, session)
  if (dice < 50) return probe(world)
  const claim = random.of(random.chance(0.6) ? claims.slice(-2) : claims)
  if (!claim) return
  if (dice < 75) return beatsSomehow(world, claim)
  if (dice < 80) return acks(world, claim)
  if (dice < 88)
    return stops(world, claim, random.chance(0.2) ? null : claim.generation, random.chance(0.5))
  const own = [...calls].filter(([, call]) => call.session === claim.session).map(([id]) => id)
  const call = random.of(own)
  if (call !== undefined) await answers(world, claim, call)
}

async function acks({ database, environment, clock, random }: Schedule, { id, item }: Grant) {
  const by = random.chance(0.7) ? (item.holder ?? anyone) : (random.of(workers) ?? anyone)
  const isTaken = acceptAcknowledgement(item, by, clock.now)
  const acked = acknowledgeItem(database, { tenant, environment, id }, by, clock.now)
  assert.equal(await kindOf(acked), isTaken ? 'ok' : 'conflict')
}

export async function checkAgreement({
  database,
  environment,
  sessions,
  claims,
}: Schedule): Promise<void> {
  for (const { id, item } of claims) {
    const row = await workStore(database.read).row(tenant, environment, id)
    const state = item.phase === 'reserved' ? 'queued' : item.phase
    assert.deepEqual([row.state, row.generation], [state, item.generation])
    if (['starting', 'active', 'stopping'].includes(state)) assert.equal(row.lease_ms, item.at)
  }
  const { rows } = await workStore(database.read).list(tenant, environment, {
    ...{ limit: 1_000, order: 'asc', toolHost: undefined },
  })
  for (const [id, session] of sessions) {
    const own = rows.filter((row) => row.session_id === id)
    assert.equal(own.length, session.items.length)
    const live = own.filter((row) => row.state !== 'stopped').length
    assert.equal(live, liveOf(session) ? 1 : 0, 'items that go on')
  }
}

/** From here on the workers behave well: all work that is left must come to its end. */
export async function healSchedule(world: Schedule): Promise<void> {
  for (const [id, session] of world.sessions) {
    if (owesWork(session) && !liveOf(session)) await says(world, id)
    while (owesWork(session) && session.call === undefined) await runs(world, id)
  }
  while ([...world.sessions.values()].some(owesWork)) {
    const claim = await poll(world, 5_000)
    if (!claim) return
    const session = sessionOf(world, claim.session)
    await beats(world, claim, noBeat, false)
    for (let turns = 0; session.call !== undefined || owesWork(session); turns++) {
      assert.ok(turns < 100, 'a session that never ends')
      if (session.call !== undefined) await answers(world, claim, session.call)
      await runs(world, claim.session)
    }
    await stops(world, claim, claim.generation, true)
  }
}

export async function checkResults({ database, sessions, calls }: Schedule): Promise<void> {
  const rows = await database.read
    .selectFrom('events')
    .select('data')
    .where('session_id', 'in', [...sessions.keys()])
    .where('type', '=', 'user.tool_result')
    .execute()
  const kept = rows.map(({ data }) => JSON.parse(data))
  for (const [id, { session, by }] of calls) {
    const own = kept.filter((result) => result.tool_use_id === id)
    if (sessions.get(session)?.status === 'done' && own.length === 0) continue
    assert.deepEqual(
      own.map((result) => result.content[0].text),
      [by],
      'kept once, and of its owner',
    )
  }
}
