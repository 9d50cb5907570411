/** An agent version to a turn: model, prompt, tools, history, and a sandbox for when one is needed. */
import type { WorkPlace } from '@steward/harness/prompt.ts'
import { systemPrompt } from '@steward/harness/prompt.ts'
import { noServers } from '@steward/harness/tools/mcp/servers.ts'
import { toolsOf } from '@steward/harness/tools/toolset.ts'
import type { Turn } from '@steward/harness/turn.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import { newId } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import type { Clock } from '../core/time.ts'
import type { Databases } from '../database/database.ts'
import { environmentStore } from '../environments/store.ts'
import type { Work } from '../events/topics.ts'
import type { ResolveModel } from '../model-cards/resolve.ts'
import { sessionStore } from '../sessions/store.ts'
import type { Assembled } from './drain.ts'
import { histories } from './histories.ts'
import type { Workspaces } from './workspace.ts'

const historyCacheBytes = 256 * 1024 * 1024
const maxRequests = 200
const retryDelaysMs = [500, 2_000, 8_000, 20_000]

export type AssemblyDeps = {
  databases: Databases
  clock: Clock
  log: Log
  spaces: Workspaces
  /** What the provider of sandboxes gives. */
  place: WorkPlace
  resolveModel: ResolveModel
}

export function assembly({ databases, clock, log, spaces, place, resolveModel }: AssemblyDeps) {
  const known = histories(historyCacheBytes)

  async function assemble({ tenant, session }: Work): Promise<Assembled> {
    const { read } = databases.of(tenant)
    const row = await sessionStore(read).row(tenant, session)
    const agent = JSON.parse(row.agent) as SessionAgent
    const [resolved, history, { env }] = await Promise.all([
      resolveModel(tenant, agent.model),
      known.of(read, tenant, session),
      environmentStore(read).record(tenant, row.environment_id),
    ])
    if (!resolved.ok)
      return { ok: false, type: 'model_request_failed_error', message: resolved.message }
    const space = spaces.use(session, env)
    const tools = toolsOf(agent.tools, {
      sandbox: () => space.sandbox(),
      outbound: () => Promise.reject(new Error('there is no way out')),
      web: null,
      commandSecrets: async () => ({}),
    })
    const parts: Omit<Turn, 'open' | 'signal'> = {
      system: systemPrompt({
        agent: agent.system,
        place: tools.some(({ runs }) => runs === 'here') ? place : undefined,
      }),
      history,
      model: resolved.model,
      tools,
      servers: noServers,
      refusals: () => [],
      cacheKey: session,
      maxRequests,
      retryDelaysMs,
      sleep: (ms, signal) => clock.sleep(ms, signal),
      newEventId: () => newId('event'),
      report: (error) => log.error('a tool threw', { error, session_id: session }),
    }
    return { ok: true, parts, release: () => space.giveBack() }
  }

  return { assemble, forget: (session: string) => known.forget(session) }
}
