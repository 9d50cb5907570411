import {
  AgentCreate,
  AgentGetQuery,
  AgentListQuery,
  AgentShown,
  AgentUpdate,
  AgentVersionSummary,
} from '@steward/protocol/agents.ts'
import type { AgentConfig, SkillRefs } from '@steward/protocol/agents.ts'
import { ListOf, ListQuery } from '@steward/protocol/primitives.ts'
import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../../ground/core/text/cursor.ts'
import { notFound } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Listing } from '../../ground/core/text/page.ts'
import { defaultLimit, forwardPage } from '../../ground/core/text/page.ts'
import type { Queries } from '../../ground/database/database.ts'
import { timeComparisons } from '../../ground/database/page-order.ts'
import { recordBody } from '../../ground/http/limits.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import type { Limits } from '../../tenants/limits/limits.ts'
import type { Tokens } from './config.ts'
import { buildAgentConfig, keepSpelling, updateConfig } from './config.ts'
import { checkReferences } from './references.ts'
import type { AgentRuleDeps } from './rules.ts'
import { advisorIn, checkAgentRules } from './rules.ts'
import { multiagentAfter } from './roster.ts'
import { agentStore, agentTokenContext } from './store.ts'

const agents = section('Agents', ['workspace'], '/v1/agents')
const told = section('Agents', ['workspace'], '/v1/ext/agents')
const answer = AgentShown

export function agentRoutes({
  seal,
  clock,
  checkSkills,
  withArchived,
  limits,
  resolveModel,
}: Ground &
  Pick<AgentRuleDeps, 'resolveModel'> & {
    /** Refuses skills with which no session could be created. */
    checkSkills: (tx: Queries, tenant: string, refs: SkillRefs) => Promise<void>
    /** Archives what ends with its agent, in the same unit. */
    withArchived: (tx: Queries, tenant: string, id: string, now: number) => Promise<void>
    limits: Limits
  }): Route[] {
  const sealAll = (tenant: string, tokens: Tokens) =>
    Object.fromEntries(
      Object.entries(tokens).map(([server, token]) => [
        server,
        seal.seal(token, agentTokenContext(tenant)),
      ]),
    )

  const checkRules = (
    tenant: string,
    { model, mcp_servers, multiagent }: Partial<z.infer<typeof AgentUpdate>>,
  ) =>
    checkAgentRules({ limits, resolveModel }, tenant, {
      model,
      mcp_servers,
      advisor: advisorIn(multiagent),
    })

  const plain = agents.plain(
    { one: 'an agent', many: 'agents', item: '/:id', answer },
    {
      create: {
        description: 'The agent begins with version 1.',
        body: AgentCreate,
        limits: recordBody,
        async run({ db, tenant, body }) {
          await checkRules(tenant, body)
          const { config, tokens } = buildAgentConfig(body)
          const sealed = sealAll(tenant, tokens)
          const checkRoom = await limits.quotas.room(tenant, 'agents')
          const owner = { id: newId('agent'), version: 1, name: config.name }
          return db.write(async (tx) => {
            await checkSkills(tx, tenant, config.skills)
            await checkReferences(tx, tenant, body)
            await checkRoom(tx, 1)
            const multiagent = await multiagentAfter(tx, tenant, owner, body)
            const whole = { ...config, multiagent }
            return agentStore(tx).create(tenant, whole, sealed, clock.now(), owner)
          })
        },
      },
      list: {
        query: AgentListQuery,
        scope: 'agents',
        rows({ db, tenant, query }, page) {
          const archived = query.archived ? 'only' : (query.include_archived ?? false)
          return agentStore(db.read).list(tenant, page, { archived, made: timeComparisons(query) })
        },
      },
      get: {
        query: AgentGetQuery,
        run: ({ db, tenant, params, query }) =>
          query.version === undefined
            ? agentStore(db.read).get(tenant, params.id)
            : agentStore(db.read).version(tenant, params.id, query.version),
      },
      update: {
        description:
          'Changes the fields that are sent and keeps the others. A change that has an effect makes a new version; sessions that exist keep theirs. Send `version` to change the agent only if nobody else has.',
        also: ['patch', 'put'],
        body: AgentUpdate,
        limits: recordBody,
        async run({ db, tenant, params, body, dialect }) {
          await checkRules(tenant, body)
          return db.write(async (tx) => {
            await checkSkills(tx, tenant, body.skills ?? [])
            await checkReferences(tx, tenant, body)
            const change = async (kept: AgentConfig, version: number) => {
              const { config, tokens, cleared } = updateConfig(kept, body)
              const owner = { id: params.id, version, name: config.name }
              const multiagent = await multiagentAfter(tx, tenant, owner, body, kept)
              return {
                config: keepSpelling(kept, { ...config, multiagent }, dialect),
                tokens: tokens && {
                  ...sealAll(tenant, tokens),
                  ...Object.fromEntries(cleared.map((name) => [name, null])),
                },
              }
            }
            return agentStore(tx).update(tenant, params.id, body.version, change, clock.now())
          })
        },
      },
      archive: {
        description:
          'The agent takes no update and no new session. Its sessions go on, and its deployments are archived with it.',
        also: ['delete'],
        run: ({ db, tenant, params }) =>
          db.write(async (tx) => {
            const now = clock.now()
            const agent = await agentStore(tx).archive(tenant, params.id, now)
            await withArchived(tx, tenant, params.id, now)
            return agent
          }),
      },
    },
  )

  const versions = agents.get(
    '/:id/versions',
    {
      summary: 'List the versions of an agent',
      query: ListQuery,
      answer: ListOf(answer),
    },
    async ({ db, tenant, params, query }) => {
      const store = agentStore(db.read)
      return versionPage(params.id, query, (below, limit) =>
        store.versions(tenant, params.id, below, limit),
      )
    },
  )

  const summaries = told.get(
    '/:id/versions',
    {
      summary: 'List who made the versions of an agent',
      description: 'The newest first, without what they say.',
      query: ListQuery,
      answer: ListOf(AgentVersionSummary),
    },
    async ({ db, tenant, params: { id }, query }) => {
      const store = agentStore(db.read)
      return versionPage(id, query, (below, limit) =>
        store.versionSummaries(tenant, id, below, limit),
      )
    },
  )

  const version = agents.get(
    '/:id/versions/:version',
    {
      summary: 'Get one version of an agent',
      isExtension: true,
      answer,
    },
    async ({ db, tenant, params }) => {
      const number = Number(params.version)
      if (!/^\d+$/.test(params.version) || !Number.isSafeInteger(number) || number < 1)
        throw notFound('agent version', params.version)
      return agentStore(db.read).version(tenant, params.id, number)
    },
  )

  return [...plain, versions, summaries, version]
}

/** A page of the versions below the version that a cursor names. */
async function versionPage<Row extends { version: number }>(
  id: string,
  query: z.infer<typeof ListQuery>,
  rowsBelow: (below: number | undefined, limit: number) => Promise<Listing<Row>>,
) {
  const scope = `versions/${id}`
  const cursor = query.page ?? query.cursor
  const below =
    cursor === undefined ? undefined : decodeCursor(cursor, scope, z.tuple([z.int().min(1)]))[0]
  const { rows, more } = await rowsBelow(below, query.limit ?? defaultLimit)
  const last = rows.at(-1)
  const next_page = more && last ? encodeCursor(scope, [last.version]) : null
  return forwardPage(rows, next_page, [id])
}
