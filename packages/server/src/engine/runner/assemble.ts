/**
 * Builds a turn from an agent version: model, prompt, tools, history, and a sandbox that starts when a tool first needs
 * it.
 */
import { readCompaction } from '@steward/harness/compaction/settings.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import type { NetworkReach, ToolHost } from '@steward/harness/prompt.ts'
import { systemPrompt } from '@steward/harness/prompt.ts'
import { buildTools } from '@steward/harness/tools/toolset.ts'
import type { Tool } from '@steward/harness/turn.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import type { Blobs } from '../../ground/blobs/blobs.ts'
import type { Rules } from '../../ground/core/rules/rules.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Ground } from '../../ground/ground.ts'
import type { ResolveModel } from '../../resources/model-cards/resolve.ts'
import type { SessionRow } from '../../sessions/rows/sessions.ts'
import type { ResourceKinds } from '../../sessions/resources/kinds.ts'
import { describeResources } from '../../sessions/resources/kinds.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import type { SessionSkills } from '../../resources/skills/session.ts'
import { mediaLoader } from './media.ts'
import { connectServers } from './connect-servers.ts'
import type { TurnAssembly, TurnParts, ClaimedWork, AssembledTurn } from './turn-deps.ts'
import { createHistoryCache } from './histories.ts'
import { turnBegun } from './observations.ts'
import { ownTools } from './own-servers.ts'
import { allowedTools } from './allowed-tools.ts'
import { loadThreadAgent } from './threads/agent.ts'
import type { WebDeps } from './web-access.ts'
import { createWebAccess } from './web-access.ts'
import type { GivenTools } from './given-tools.ts'
import { withGiven } from './given-tools.ts'
import type { SandboxPool } from './sandboxes/sandbox-pool.ts'

const historyCacheBytes = 256 * 1024 * 1024
const maxRequests = 200
/** The pauses between the attempts of one model request. */
export const retryDelaysMs: readonly number[] = [500, 2_000, 8_000, 20_000]

export type AssemblyParts = Ground & {
  sandboxPool: SandboxPool
  blobs: Blobs
  resolveModel: ResolveModel
  /** What workspaces allow now. */
  rules: Rules
  inlineTokens: (row: SessionRow) => Promise<Record<string, string>>
  skills: SessionSkills
  kinds: ResourceKinds
  givenTools: GivenTools
  traceparentOf: TraceparentOf
  automations: TurnParts['automations']
}

/** `toolHost`: where the sandbox provider runs commands. */
type AssemblyDeps = AssemblyParts & WebDeps & { toolHost: ToolHost }

/** The W3C Trace Context of the turn that a session has now; undefined where nobody traces it. */
export type TraceparentOf = (session: string) => string | undefined

const reachOf = ({ limited, allowlist, denylist }: EnvironmentRecord): NetworkReach => ({
  allow: limited ? allowlist : null,
  deny: denylist,
})

const noSandbox = () =>
  Promise.reject(new SandboxEnded('the sandbox of this session is on a worker'))

export function createTurnAssembly(deps: AssemblyDeps) {
  const { databases, clock, log, sandboxPool: spaces, toolHost: host, kinds } = deps
  const { resolveModel, inlineTokens, skills, givenTools, traceparentOf, automations } = deps
  const known = createHistoryCache(historyCacheBytes, (tenant) => mediaLoader(deps, tenant), clock)

  /** Where the agent's own tools run. Undefined when no tool needs a sandbox or a worker. */
  function toolHostOf(tools: readonly Tool[]): ToolHost | undefined {
    if (tools.some(({ runs }) => runs === 'worker')) return 'worker'
    return tools.some(({ sandbox }) => sandbox !== 'unused') ? host : undefined
  }

  async function assemble(work: ClaimedWork): Promise<TurnAssembly> {
    const { tenant, session, thread, generation } = work
    const database = await databases.open(tenant)
    const { read } = database
    const found = await sessionStore(read).forTurn(tenant, session)
    const { environment, hasResources } = found
    const ofThread = await loadThreadAgent({ database, clock }, work, found.session)
    const { agent, row, team, parts: own } = ofThread
    const [resolved, history, tokens, ofResources, ofSkills, given] = await Promise.all([
      resolveModel(tenant, agent.model),
      known.of(read, work),
      agent.mcp_servers.length > 0 ? inlineTokens(row) : {},
      hasResources ? describeResources(kinds, read, row) : [],
      skills.describe(tenant, agent.skills),
      givenTools(found.session, thread),
    ])
    if (!resolved.ok) {
      const failure = { type: 'model_request_failed_error', message: resolved.message } as const
      return { ok: false, failure }
    }
    const space = spaces.use({ tenant, session, generation, environment }, thread)
    const { egress } = space
    const allowed = allowedTools(found.session)
    const connected = connectServers({
      tenant,
      agent,
      environment,
      tokens,
      space,
      clock,
      sealedTokens: row.sealed_tokens,
      traceparent: () => traceparentOf(session),
    })
    const servers = allowed.amongServers(connected)
    servers.begin()
    const isElsewhere = row.self_hosted === 1
    const declared = buildTools(agent.tools, {
      sandbox: isElsewhere ? noSandbox : space.sandbox,
      isElsewhere,
      now: () => clock.now(),
      automations: thread === undefined ? automations?.ofSession({ tenant, session }) : undefined,
      outbound: egress.outboundFetch({ credentials: true }),
      web: createWebAccess(deps, egress, tenant),
      commandSecrets: (words) => egress.commandSecrets(words),
    })
    const ofWorker = isElsewhere ? await ownTools(read, deps.rules, { tenant, session }, agent) : []
    const toolHost = toolHostOf(declared)
    const parts: AssembledTurn = {
      system: systemPrompt({
        agent: agent.system,
        toolHost,
        outputs: found.session.outputs_path,
        reach: reachOf(environment),
        parts: [...own, ...[...ofResources.map((part) => part(toolHost)), ...ofSkills(toolHost)]],
      }),
      history,
      model: resolved.model,
      tools: [...allowed.among(withGiven(declared, given, ofWorker)), ...(team?.tools ?? [])],
      servers,
      refusals: () => egress.takeRefusals(),
      notices: () => [...space.takeNotices(), ...egress.takeNotices()],
      changed: () => space.changed(),
      announced: () => space.announced(),
      cacheKey: thread ?? session,
      answerSchema: ofThread.answerSchema,
      traceparent: () => traceparentOf(session),
      harness: agent.harness,
      compaction: readCompaction(agent),
      maxRequests,
      retryDelaysMs,
      newEventId: () => newId('event'),
      report: (error) => log.error('a tool threw', { error, session_id: session }),
    }
    turnBegun.tell({ session, agent: agent.name, ...resolved.model.origin })
    return {
      ok: true,
      parts,
      model: {
        name: typeof agent.model === 'string' ? agent.model : agent.model.id,
        price: resolved.price,
      },
      isElsewhere,
      roster: team?.roster,
      ...(toolHost && { sandbox: space.sandbox }),
      rested: () => space.rested(),
      release: () => space.giveBack(),
      readHistory: () => known.of(read, work),
    }
  }

  return { assemble, forget: (session: string) => known.forget(session), job: known.job }
}
