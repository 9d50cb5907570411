import type { Replay } from '@steward/protocol/replays.ts'
import { ReplayCreate, ReplayShown } from '@steward/protocol/replays.ts'
import { runTurn } from '@steward/harness/loop.ts'
import { invalid } from '../../ground/core/errors.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import { eventLoop } from '../../ground/core/fairness/event-loop.ts'
import type { TenantRef } from '../../ground/database/database.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { chooseAgent } from '../../sessions/create.ts'
import { readHead } from '../../sessions/log/head.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import { continueLive } from './continue-live.ts'
import { diffTexts } from './difference.ts'
import { buildSessionRecord } from './record.ts'
import { replayRecord } from './replay.ts'
import { replayedEvents } from './replayed-events.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'

const replays = section('Replays', ['workspace'], '/v1/ext/replays')

export const replayRoutes = (deps: OpenSessionDeps): Route[] => [
  replays.post(
    '',
    {
      summary: 'Replay a session',
      description:
        'Runs its turns again with recorded answers, and keeps nothing but a session that goes on.',
      body: ReplayCreate,
      answer: ReplayShown,
    },
    ({ db, tenant, body }) => replaySession(deps, { db, tenant }, body),
  ),
]

async function replaySession(
  deps: OpenSessionDeps,
  { db, tenant }: TenantRef,
  { session_id, agent: choice, on_divergence }: ReplayCreate,
): Promise<Replay> {
  const { read } = db
  const session = await sessionStore(read).row(tenant, session_id)
  if (session.self_hosted === 1)
    throw invalid(
      'session_id: a session of a self_hosted environment cannot be replayed, because its worker ran the calls',
    )
  if ((await readHead(read, tenant, session_id)).threads === 1)
    throw invalid(
      'session_id: the session has threads, and a session with threads cannot be replayed',
    )
  const recorded = fromJson(session.agent)
  const chosen = choice ?? session.agent_id
  const { agent } = await chooseAgent(read, tenant, chosen)
  const record = buildSessionRecord(await replayedEvents(read, { tenant, session: session_id }))
  const next = () => eventLoop.wait(tenant)
  const outcome = await replayRecord({ runTurn, next }, record, agent)
  const { divergence } = outcome
  const continues = divergence !== null && on_divergence === 'continue'
  const divergent = { session: session_id, agent: chosen, turns: record.turns }
  const continued = continues
    ? await continueLive(deps, { db, tenant }, { ...divergent, index: outcome.turns })
    : null
  return {
    type: 'replay',
    session_id,
    agent: { id: agent.id, version: agent.version },
    status: divergence ? 'diverged' : 'same',
    turns: outcome.turns,
    events: outcome.events,
    ended_early: record.end ?? null,
    changes: changesOf(recorded, agent),
    divergence,
    continued_session_id: continued,
  }
}

const compared = ['model', 'system', 'tools', 'mcp_servers', 'skills', 'harness'] as const
type ComparedAgent = { [Field in (typeof compared)[number]]: unknown }

/** The fields in which the agents of the record and of the replay differ. */
const changesOf = (before: ComparedAgent, now: ComparedAgent): Replay['changes'] =>
  compared
    .filter((field) => textOf(before[field]) !== textOf(now[field]))
    .map((field) => ({ field, diff: diffTexts(textOf(before[field]), textOf(now[field])) }))

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, null, 2)
