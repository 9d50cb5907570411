/**
 * Forks a session: creates a session with the beginning of another session's log. The log is copied first, under a
 * session row that is marked as deleted; one unit then turns it into a session. When the process dies in between, the
 * job for deleted sessions removes the copy.
 */
import type { ForkedFrom, SessionFork } from '@steward/protocol/forks.ts'
import type { Session, SessionAgent } from '@steward/protocol/sessions.ts'
import { iso } from '@steward/base/time.ts'
import { auditChange } from '../ground/core/security/audited-call.ts'
import { invalid, PlatformError } from '../ground/core/errors.ts'
import { newId } from '../ground/core/text/ids.ts'
import { fromJson, toJson } from '../ground/core/text/json-text.ts'
import type { Seal } from '../ground/core/security/seal.ts'
import type { Database, Queries } from '../ground/database/database.ts'
import type { Tokens } from '../resources/agents/config.ts'
import { forkCheckpoint } from '../resources/checkpoints/fork.ts'
import { pinSkills } from '../resources/skills/pin-skills.ts'
import { outbox } from '../tenants/webhooks/outbox.ts'
import { chooseAgent } from './create.ts'
import { removeSessionRows } from './job.ts'
import { appendEntries } from './log/append.ts'
import { copyLog } from './log/copy.ts'
import { closingsAt, firstResultAfter, hasResultUpTo } from './log/cut.ts'
import type { Head } from './log/head.ts'
import { readHead } from './log/head.ts'
import { turnsInLog } from './log/turns.ts'
import { idleEntries } from './log/idle.ts'
import { newRow } from './new-row.ts'
import type { ForkedThreads } from './fork-threads.ts'
import { endsOfThreads, insertThreads, threadsAt } from './fork-threads.ts'
import { readThreadHead } from './log/threads/team.ts'
import { pinRoster } from './pin-roster.ts'
import { attachResources } from './resources/attach.ts'
import { requestsAgain } from './resources/kinds.ts'
import { storesOfAgent } from './resources/memory-stores.ts'
import { resourceStore } from './rows/resources.ts'
import type { Roster } from './rows/roster.ts'
import type { SessionRow, ShownSessionRow } from './rows/sessions.ts'
import { sessionStore, tokenContext } from './rows/sessions.ts'
import { serversOfHead } from './stdio-servers/readiness.ts'
import { enqueueSession } from './work/queue.ts'
import { announceRowChange } from './log/topics.ts'
import type { OpenSessionDeps } from './open.ts'

/** Further work in the unit that creates the fork. `id`: of the fork. */
export type ForkFinish = { id: string; finish: (tx: Queries, now: number) => Promise<void> }

type ForkDeps = OpenSessionDeps & {
  /** Counts the session against the quota of the day. */
  count: (tx: Queries) => Promise<void>
  also?: ForkFinish | undefined
}

type Fork = {
  tenant: string
  from: string
  id: string
  at: number
  input: SessionFork
  threads: ForkedThreads
}

const why = 'the session was forked before this call had a result; the call may be made again'

export async function forkSession(
  db: Database,
  tenant: string,
  from: string,
  input: SessionFork,
  deps: ForkDeps,
): Promise<Session> {
  const row = await sessionStore(db.read).shownRow(tenant, from)
  const { next_seq } = await readHead(db.read, tenant, from)
  const at = input.at_seq ?? next_seq
  if (at > next_seq)
    throw invalid(
      `at_seq: the log of session ${from} ends with event ${next_seq}, and has no ${at}`,
    )
  const threads = await threadsAt(db.read, { tenant, from, at })
  const fork = { tenant, from, id: deps.also?.id ?? newId('session'), at, input, threads }
  await db.write((tx) => hide(tx, fork, row, deps.clock.now()))
  try {
    await copyLog(db, { tenant, from, to: fork.id, upTo: at, hasThreads: threads.started.size > 0 })
    return await db.write((tx) => begin(tx, fork, deps))
  } catch (error) {
    // The job removes what cannot be removed now.
    await removeSessionRows(db, { tenant, session: fork.id, now: deps.clock.now() }).catch(() => {})
    throw error
  }
}

/** Inserts a row that is marked as deleted: no reader finds it, and its log is removed unless the fork is completed. */
async function hide(tx: Queries, { id }: Fork, row: ShownSessionRow, now: number): Promise<void> {
  const at = iso(now)
  const bare = { sealed_tokens: null, metadata: toJson({}), forked_from: null, deployment_id: null }
  const hidden = { ...row, ...bare, id, deleted_at: at, updated_at: at }
  const of = { stdio_ms: null, url_servers: 0, budget: null }
  await sessionStore(tx).insert(hidden, 'deleted', of)
}

async function begin(tx: Queries, fork: Fork, deps: ForkDeps): Promise<Session> {
  const { tenant, from, id, at, input } = fork
  const store = sessionStore(tx)
  const now = deps.clock.now()
  await deps.count(tx)
  const source = await store.getForUpdate(tenant, from)
  if ((await store.ofAnyTenant([id])).length === 0)
    throw new PlatformError('unavailable', 'the fork took too long and was given up: ask again')
  const { agent, tokens, rosterFor } = await agentOf(tx, fork, source, deps.seal)
  const named = requestsAgain(deps.kinds, await resourceStore(tx).ofSession(tenant, from))
  const wanted = [...named, ...storesOfAgent(agent, named)]
  const checkpoint = await checkpointAt(tx, fork)
  const of = { session_id: from, seq: at }
  const forkedFrom: ForkedFrom = { ...of, checkpoint }
  const row = await newRow(
    tx,
    tenant,
    {
      id,
      agent,
      tokens,
      environmentId: source.environment_id,
      vaultIds: fromJson(source.vault_ids),
      wanted,
      title: input.title === undefined ? source.title : input.title,
      metadata: fromJson(source.metadata),
      rosterFor,
      forkedFrom,
      deploymentId: null,
      outputsPath: source.outputs_path,
    },
    { ...deps, now },
  )
  await store.forget(tenant, id)
  const { budget } = await readHead(tx, tenant, from)
  const turns = await turnsInLog(tx, tenant, id)
  const hasThreads = fork.threads.started.size > 0
  const known = {
    ...serversOfHead(agent),
    budget,
    next_seq: at,
    turns,
    threads: hasThreads ? 1 : 0,
  }
  const head = await store.insert(row, at === 0 ? 'pending' : 'idle', known)
  if (hasThreads) await insertThreads(tx, fork, fork.threads, { name: agent.name, head, now })
  tellFork(row, of)
  const pending = at === 0 ? (['session.pending'] as const) : []
  await outbox(tx).put(tenant, ['session.created', ...pending], { id }, now)
  await attachResources(tx, deps.kinds, { tenant, session: id, now }, wanted)
  await rest(tx, fork, head, now)
  await enqueueSession(tx, row, now)
  await deps.also?.finish(tx, now)
  return store.get(tenant, id, now)
}

/** Reports the fork to the audit. */
function tellFork(
  { id, title, agent_id, agent_version, environment_id }: SessionRow,
  forked_from: Pick<ForkedFrom, 'session_id' | 'seq'>,
): void {
  const after = { title, agent_id, agent_version, environment_id, forked_from }
  auditChange({ type: 'session', id, after })
}

/** Closes open calls, spans and threads at the end of the copied log, and appends the idle event. */
async function rest(tx: Queries, fork: Fork, head: Head, now: number): Promise<void> {
  const { tenant, id, at } = fork
  if (at === 0) return announceRowChange(tx, tenant, id)
  const closed = await closingsAt(tx, { tenant, session: id, at }, why)
  const primary = await readThreadHead(tx, { tenant, session: id }, head)
  const entries = [
    ...closed.map((event) => ({ event })),
    ...(await endsOfThreads(tx, fork, fork.threads)),
    ...idleEntries(primary ?? head, { type: 'end_turn' }, now),
  ]
  await appendEntries(tx, tenant, id, entries, { now })
}

/** Adds an event about the checkpoint if a call in the copied log may have changed files. */
async function checkpointAt(
  tx: Queries,
  { tenant, from, id, at }: Fork,
): Promise<ForkedFrom['checkpoint']> {
  const cut = { tenant, session: from, at }
  if (!(await hasResultUpTo(tx, cut))) return null
  const before = (await firstResultAfter(tx, cut)) ?? Number.MAX_SAFE_INTEGER
  const found = await forkCheckpoint(tx, tenant, { from, to: id }, { at, before })
  return found ? { seq: found.seq, taken_at: found.taken_at } : null
}

type ForkAgent = {
  agent: SessionAgent
  tokens: Tokens | undefined
  rosterFor: (isElsewhere: boolean) => Promise<Roster>
}

/** The agent of the source session, or another one as a new session would get it. */
async function agentOf(
  tx: Queries,
  { tenant, from, input }: Fork,
  source: SessionRow,
  seal: Seal,
): Promise<ForkAgent> {
  if (input.agent === undefined) {
    const { roster } = await sessionStore(tx).shownRow(tenant, from)
    const sealed = Object.entries(fromJson(source.sealed_tokens) ?? {})
    const opened = sealed.map(([server, token]) => [
      server,
      seal.open(token, tokenContext(tenant, from, server)),
    ])
    return {
      agent: fromJson(source.agent),
      tokens: source.sealed_tokens === null ? undefined : Object.fromEntries(opened),
      rosterFor: async () => roster,
    }
  }
  const { agent: chosen, tokens } = await chooseAgent(tx, tenant, input.agent)
  const agent = { ...chosen, skills: await pinSkills(tx, tenant, chosen.skills) }
  return {
    agent,
    tokens,
    rosterFor: (isElsewhere) => pinRoster(tx, tenant, agent, isElsewhere),
  }
}
