import type { Agent, AgentConfig, AgentVersionSummary } from '@steward/protocol/agents.ts'
import type { ActingThing } from '../../ground/core/security/audited-call.ts'
import { creatorColumns, creatorOf, showCreator } from '../../ground/core/creator.ts'
import { conflict, invalid, notFound } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { isSameJson } from '../../ground/core/text/same-json.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { mapListing } from '../../ground/core/text/page.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import { readListing, rowWeight } from '../../ground/database/listing.ts'
import type { ListFilter, RowOf } from '../../ground/database/rows.ts'
import { rows } from '../../ground/database/rows.ts'
import { insertRows } from '../../ground/database/statement.ts'
import type { SealedTokens } from '../../ground/database/tables/agents.ts'
import { outbox } from '../../tenants/webhooks/outbox.ts'
import { fromJson, toJson } from '../../ground/core/text/json-text.ts'
import { stampSelf } from './multiagent.ts'

/** The context that the inline tokens of a tenant's agents are sealed for. */
export const agentTokenContext = (tenant: string): string =>
  `${tenant}/agent_versions/sealed_tokens`

const get = async (db: Reads, tenant: string, id: string): Promise<Agent> =>
  toAgent(await rows(db, 'agents').get(tenant, id))

async function writeVersion(
  db: Queries,
  tenant: string,
  agent: Agent,
  config: AgentConfig,
  tokens: SealedTokens,
  actor?: ActingThing,
) {
  const row = {
    tenant_id: tenant,
    agent_id: agent.id,
    version: agent.version,
    config: toJson(config),
    sealed_tokens: toJson(tokens),
    created_at: agent.updated_at,
    ...creatorOf(actor),
  }
  await insertRows(db, 'agent_versions', [row])
}

/** `exists`: whether the agent does; it may lack the version. */
export type PinnedAgent = { exists: boolean; agent?: Agent }

type Pin = { id: string; version: number | undefined }

function agentReads(db: Reads) {
  return {
    /** Reads these agents, each at its version or at the newest, with at most two statements. */
    async pinned(tenant: string, pins: readonly Pin[]): Promise<PinnedAgent[]> {
      if (pins.length === 0) return []
      const found = await db
        .selectFrom('agents')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .where(
          'id',
          'in',
          pins.map(({ id }) => id),
        )
        .execute()
      const newest = new Map(found.map((row) => [row.id, row]))
      const older = pins.flatMap(({ id, version }) => {
        const row = newest.get(id)
        return row && version !== undefined && version < row.version ? [{ id, version }] : []
      })
      const configs = await olderConfigs(db, tenant, older)
      return pins.map(({ id, version }): PinnedAgent => {
        const row = newest.get(id)
        if (!row) return { exists: false }
        const agent = toAgent({ ...row, config: fromJson(row.config) })
        if (version === undefined || version === agent.version) return { exists: true, agent }
        const config = configs.get(`${id}/${version}`)
        return { exists: true, ...(config && { agent: { ...agent, ...config, version } }) }
      })
    },

    get: (tenant: string, id: string) => get(db, tenant, id),

    /** One version; its `updated_at` is the time of its creation. */
    async version(tenant: string, id: string, version: number): Promise<Agent> {
      const agent = await get(db, tenant, id)
      if (agent.version === version) return agent
      if (version > agent.version) throw notFound('agent version', `${id}/${version}`)
      const row = await db
        .selectFrom('agent_versions')
        .select(['config', 'created_at'])
        .where('tenant_id', '=', tenant)
        .where('agent_id', '=', id)
        .where('version', '=', version)
        .executeTakeFirst()
      if (!row) throw notFound('agent version', `${id}/${version}`)
      const config = fromJson(row.config)
      return { ...agent, ...config, version, updated_at: row.created_at }
    },

    /** The newest first. */
    async versions(
      tenant: string,
      id: string,
      below: number | undefined,
      limit: number,
    ): Promise<Listing<Agent>> {
      const agent = await get(db, tenant, id)
      const newest = db
        .selectFrom('agent_versions')
        .select(['version', 'config', 'created_at'])
        .where('tenant_id', '=', tenant)
        .where('agent_id', '=', id)
        .where('version', '<', Math.min(below ?? agent.version + 1, agent.version + 1))
        .orderBy('version', 'desc')
      const found = await readListing(tenant, newest, { limit, weight: rowWeight('config') })
      return mapListing(found, ({ version, config, created_at }) => ({
        ...agent,
        ...fromJson(config),
        version,
        updated_at: created_at,
      }))
    },

    /** The newest first, without their configs. */
    async versionSummaries(
      tenant: string,
      id: string,
      below: number | undefined,
      limit: number,
    ): Promise<Listing<AgentVersionSummary>> {
      const agent = await get(db, tenant, id)
      const found = await db
        .selectFrom('agent_versions')
        .select(['version', 'created_at', ...creatorColumns])
        .where('tenant_id', '=', tenant)
        .where('agent_id', '=', id)
        .where('version', '<', below ?? agent.version + 1)
        .orderBy('version', 'desc')
        .limit(limit + 1)
        .execute()
      const rows = found.slice(0, limit).map((row): AgentVersionSummary => {
        const { version, created_at } = row
        const created_by = showCreator(row)
        return { type: 'agent_version_summary', agent_id: id, version, created_at, created_by }
      })
      return { rows, more: found.length > limit }
    },

    async list(tenant: string, paging: Paging, filter: ListFilter): Promise<Listing<Agent>> {
      return mapListing(await rows(db, 'agents').list(tenant, paging, filter), toAgent)
    },
  }
}

function agentWrites(db: Queries) {
  return {
    async create(
      tenant: string,
      config: AgentConfig,
      tokens: SealedTokens,
      now: number,
      { id = newId('agent'), actor }: { id?: string; actor?: ActingThing } = {},
    ): Promise<Agent> {
      const at = iso(now)
      const row = await rows(db, 'agents').insert({
        tenant_id: tenant,
        id,
        version: 1,
        environment_id: config.environment_id,
        config,
        archived_at: null,
        created_at: at,
        updated_at: at,
      })
      const agent = toAgent(row)
      await writeVersion(db, tenant, agent, config, tokens, actor)
      await outbox(db).put(tenant, ['agent.created'], { id: row.id }, now)
      return agent
    },

    /**
     * Writes a new version with `change` applied to the newest, or returns the newest when nothing changes. `change`
     * reads only by this unit. Throws 409 when `expected` is not the newest version.
     */
    async update(
      tenant: string,
      id: string,
      expected: number | undefined,
      change: (
        kept: AgentConfig,
        version: number,
      ) => Promise<{ config: AgentConfig; tokens: GivenTokens | undefined }>,
      now: number,
    ): Promise<Agent> {
      const row = await rows(db, 'agents').getForUpdate(tenant, id)
      const kept = toAgent(row)
      if (expected !== undefined && expected !== kept.version) {
        throw conflict(`version: the agent is at version ${kept.version}, not ${expected}`)
      }
      if (kept.archived) throw invalid(`agent ${id} is archived and cannot be changed`)
      const before = configOfAgent(kept)
      const { config: asked, tokens } = await change(before, kept.version)
      const sealed = await sealedTokens(db, tenant, id, kept.version)
      const nextTokens = tokens && withKept(tokens, sealed, [before, asked])
      // Sealed tokens cannot be compared: a given token counts as a change, as the loss of a stored one does.
      const isFewer = nextTokens && Object.keys(sealed).some((name) => !(name in nextTokens))
      const touched = isFewer || (tokens && Object.values(tokens).some((token) => token !== null))
      if (!touched && isSameJson(asked, before)) return kept
      const version = kept.version + 1
      const config = stampSelf(asked, { id, version })
      const { environment_id } = config
      const columns = { version, config, environment_id, updated_at: iso(now) }
      const agent = toAgent(await rows(db, 'agents').update(row, columns))
      await writeVersion(db, tenant, agent, config, nextTokens ?? sealed)
      await outbox(db).put(tenant, ['agent.updated'], { id }, now)
      return agent
    },

    /** Archives an agent for good. A repeated call changes nothing. */
    async archive(tenant: string, id: string, now: number): Promise<Agent> {
      const kept = await rows(db, 'agents').getForUpdate(tenant, id)
      if (kept.archived_at !== null) return toAgent(kept)
      const row = await rows(db, 'agents').archive(kept, now)
      await outbox(db).put(tenant, ['agent.archived'], { id }, now)
      return toAgent(row)
    },
  }
}

/** By the name of the server. Null: the token is taken away. */
type GivenTokens = Record<string, SealedTokens[string] | null>

/**
 * A server that stays at its address and names no token keeps the one that it has: no answer shows tokens, so nobody can
 * send one back. [agents/mcp/token-kept]
 */
function withKept(
  given: GivenTokens,
  stored: SealedTokens,
  [before, after]: readonly [AgentConfig, AgentConfig],
): SealedTokens {
  const tokens: SealedTokens = {}
  for (const { name, url } of after.mcp_servers) {
    const isSame = before.mcp_servers.some((each) => each.name === name && each.url === url)
    const token = name in given ? given[name] : isSame ? stored[name] : undefined
    if (token) tokens[name] = token
  }
  return tokens
}

async function olderConfigs(
  db: Reads,
  tenant: string,
  pins: readonly { id: string; version: number }[],
): Promise<Map<string, AgentConfig>> {
  if (pins.length === 0) return new Map()
  const found = await db
    .selectFrom('agent_versions')
    .select(['agent_id', 'version', 'config'])
    .where('tenant_id', '=', tenant)
    .where((eb) => eb.or(pins.map(({ id, version }) => eb.and({ agent_id: id, version }))))
    .execute()
  return new Map(
    found.map(({ agent_id, version, config }) => [`${agent_id}/${version}`, fromJson(config)]),
  )
}

/** Agents and their versions. An update writes a new version row; a version row never changes. */
export const agentStore = defineStore(agentReads, agentWrites)

async function sealedTokens(
  db: Reads,
  tenant: string,
  id: string,
  version: number,
): Promise<SealedTokens> {
  const row = await db
    .selectFrom('agent_versions')
    .select('sealed_tokens')
    .where('tenant_id', '=', tenant)
    .where('agent_id', '=', id)
    .where('version', '=', version)
    .executeTakeFirst()
  return row ? fromJson(row.sealed_tokens) : {}
}

export function configOfAgent(agent: Agent): AgentConfig {
  const { id: _id, type: _type, version: _version, ...rest } = agent
  const {
    archived: _archived,
    archived_at: _at,
    created_at: _made,
    updated_at: _changed,
    ...config
  } = rest
  return config
}

const toAgent = (row: RowOf<'agents'>): Agent => ({
  ...row.config,
  id: row.id,
  type: 'agent',
  version: row.version,
  archived: row.archived_at !== null,
  archived_at: row.archived_at,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
