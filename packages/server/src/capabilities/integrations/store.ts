import type {
  Installation,
  IntegrationDelivery,
  IntegrationId,
  ShownPublication,
} from '@steward/protocol/integrations.ts'
import { sourceDefaults } from '@steward/protocol/integrations.ts'
import type { ExpressionBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { mapListing } from '../../ground/core/text/page.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { RowOf } from '../../ground/database/rows.ts'
import { rows } from '../../ground/database/rows.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { WorkInSlots } from '../../ground/core/fairness/work-slots.ts'
import { isWorkspaceHeld, lockHolds, unless } from '../../ground/database/holds.ts'

export type PublicationRow = RowOf<'publications'>
export type DeliveryRow = RowOf<'integration_deliveries'>
export type ExternalThreadRow = RowOf<'integration_threads'>

export type InstallationRow = RowOf<'installations'>

/** The place that the tokens of an installation are sealed for. */
export const installationTokenContext = (tenant: string, id: string, name: string): string =>
  `${tenant}/installations/${id}/sealed_tokens/${name}`

/** The place that the secret of a publication is sealed for. */
export const publicationSecretContext = (tenant: string, id: string, name: string): string =>
  `${tenant}/publications/${id}/sealed_secrets/${name}`

/** A pull request that an agent has opened. */
export type OwnPullRequest = RowOf<'integration_pull_requests'>

/** What a publication is shown with beside its own row. */
export type ShownParts = { deliveryUrl: string; installation: InstallationRow | undefined }

export const showPublication = (
  row: PublicationRow,
  { deliveryUrl, installation }: ShownParts,
): ShownPublication => ({
  id: row.id,
  type: 'publication',
  integration_id: row.integration,
  installation_id: row.installation_id,
  agent: { type: 'agent', id: row.agent_id, version: row.agent_version },
  environment_id: row.environment_id,
  vault_ids: row.spec.vault_ids,
  app_access: row.spec.app_access ?? false,
  name: row.spec.name ?? null,
  tell_refusals: row.spec.tell_refusals ?? row.integration === 'linear',
  follow_ups: row.spec.follow_ups ?? row.integration !== 'github',
  automations: row.spec.automations ?? null,
  external_workspace: installation
    ? { id: installation.external_id, name: installation.external_name }
    : null,
  status: row.status,
  delivery_url: deliveryUrl,
  code: row.spec.code ?? null,
  ...(row.spec.webhook && { webhook: row.spec.webhook }),
  ...(row.spec.github && { github: { ...sourceDefaults.github, ...row.spec.github } }),
  ...(row.spec.linear && { linear: { ...sourceDefaults.linear, ...row.spec.linear } }),
  ...(row.spec.slack && { slack: { ...sourceDefaults.slack, ...row.spec.slack } }),
  metadata: row.metadata,
  created_at: row.created_at,
  updated_at: row.updated_at,
})

export const showInstallation = (row: InstallationRow): Installation => ({
  id: row.id,
  type: 'installation',
  integration_id: row.integration,
  workspace_id: row.external_id,
  workspace_name: row.external_name,
  bot_user_id: row.bot_user_id,
  scopes: row.scopes,
  status: row.status,
  installed_at: row.created_at,
})

const showAnswer = (row: DeliveryRow): IntegrationDelivery['answer'] =>
  row.answer_state && { state: row.answer_state, url: row.answer_url, reason: row.answer_reason }

export const showDelivery = (row: DeliveryRow): IntegrationDelivery => ({
  id: row.id,
  type: 'integration_delivery',
  state: row.state,
  reason: row.reason,
  author: row.author,
  scope: row.scope,
  session_id: row.session_id,
  provider_number: row.number,
  missing: row.missing ?? [],
  answer: showAnswer(row),
  created_at: row.created_at,
})

/** A row of any tenant that is due. */
export type Due = { tenant_id: string; id: string }
export type DueDelivery = Due & Pick<DeliveryRow, 'publication_id'>
export type DueThread = DueDelivery & Pick<ExternalThreadRow, 'session_id'>

/** `resting`: ids that pause after a failure. */
type ToRenew = { by: number; resting: readonly string[] }

type DueRow = { due: Record<'id' | 'publication_id' | 'tenant_id', string> }

const isLookedFor = (
  eb: ExpressionBuilder<DueRow, 'due'>,
  { ids, groups: publications, tenants }: WorkInSlots,
) =>
  eb.and([
    ...(ids.length > 0 ? [eb('due.id', 'not in', ids)] : []),
    ...(publications.length > 0 ? [eb('due.publication_id', 'not in', publications)] : []),
    ...(tenants.length > 0 ? [eb('due.tenant_id', 'not in', tenants)] : []),
  ])

const dayMs = 24 * 60 * 60_000

/** The most installations of a workspace: they are listed on one page. */
export const mostInstallations = 200

function integrationReads(db: Reads) {
  return {
    installations: (tenant: string): Promise<InstallationRow[]> =>
      rows(db, 'installations').all(tenant, (query) =>
        query.orderBy('created_at').orderBy('id').limit(mostInstallations),
      ),
    publicationsOf: (tenant: string, installation: string): Promise<PublicationRow[]> =>
      rows(db, 'publications').all(tenant, (query) =>
        query.where('installation_id', '=', installation).orderBy('id'),
      ),
    /** Publications of other integrations that have a repository of the installation. */
    async publicationsWithCode(tenant: string, installation: string): Promise<PublicationRow[]> {
      const all = await rows(db, 'publications').all(tenant, (query) => query.orderBy('id'))
      return all.filter(({ spec }) => spec.code?.installation_id === installation)
    },
    publications: (
      tenant: string,
      integration: IntegrationId,
      paging: Paging,
    ): Promise<Listing<PublicationRow>> =>
      rows(db, 'publications').list(tenant, paging, {
        where: (query) => query.where('integration', '=', integration),
      }),

    async deliveries(
      tenant: string,
      publication: string,
      paging: Paging,
    ): Promise<Listing<IntegrationDelivery>> {
      const found = await rows(db, 'integration_deliveries').list(tenant, paging, {
        where: (query) => query.where('publication_id', '=', publication),
      })
      return mapListing(found, showDelivery)
    },

    /** Across tenants: publications whose vault needs a new token. */
    publicationsToRenew: ({ by, resting }: ToRenew, limit: number): Promise<Due[]> =>
      db
        .selectFrom('publications')
        .select(['tenant_id', 'id'])
        .where('token_due_ms', '<=', by)
        .where('status', '=', 'live')
        .$if(resting.length > 0, (query) => query.where('id', 'not in', resting))
        .orderBy('token_due_ms')
        .limit(limit)
        .execute(),
    deliveryOf: (tenant: string, publication: string, external: string) =>
      rows(db, 'integration_deliveries').find(tenant, (query) =>
        query.where('publication_id', '=', publication).where('external_id', '=', external),
      ),

    /** The delivery whose message is the event, while the agent has not read it. */
    unreadDelivery: (tenant: string, { session, event }: ReadEvent) =>
      rows(db, 'integration_deliveries').find(tenant, (query) =>
        query
          .where('session_id', '=', session)
          .where('event_id', '=', event)
          .where('answer_state', '=', 'waiting'),
      ),

    /** True while people wait for the answer to a delivery of the session. */
    async isAnswerDue(tenant: string, session: string): Promise<boolean> {
      const row = await rows(db, 'integration_deliveries').find(tenant, (query) =>
        query.where('session_id', '=', session).where('answer_state', 'in', ['waiting', 'working']),
      )
      return row !== undefined
    },

    /** Counts deliveries of the thread since a time. Ignored deliveries have no scope and do not count. */
    async countOfScope(
      tenant: string,
      { publication, scope, since }: { publication: string; scope: string; since: string },
    ): Promise<number> {
      const { all } = await db
        .selectFrom('integration_deliveries')
        .select(sql<number>`count(*)`.as('all'))
        .where('tenant_id', '=', tenant)
        .where('publication_id', '=', publication)
        .where('scope', '=', scope)
        .where('created_at', '>=', since)
        .executeTakeFirstOrThrow()
      return Number(all)
    },

    countSince: async (tenant: string, publication: string, since: string): Promise<number> => {
      const { all } = await db
        .selectFrom('integration_deliveries')
        .select(sql<number>`count(*)`.as('all'))
        .where('tenant_id', '=', tenant)
        .where('publication_id', '=', publication)
        .where('created_at', '>=', since)
        .executeTakeFirstOrThrow()
      return Number(all)
    },

    /** The delivery whose turn it is. The deliveries of a thread go into its session in the order of arrival. */
    oldestWaiting: (tenant: string, publication: string, scope: string) =>
      db
        .selectFrom('integration_deliveries')
        .select('id')
        .where('tenant_id', '=', tenant)
        .where('publication_id', '=', publication)
        .where('scope', '=', scope)
        .where('due_ms', 'is not', null)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst(),

    /** Across tenants: due deliveries, only the oldest of each thread. Later deliveries of the thread wait for it. */
    dueDeliveries: (
      { by, skipped }: { by: number; skipped: WorkInSlots },
      limit: number,
    ): Promise<DueDelivery[]> =>
      db
        .selectFrom('integration_deliveries as due')
        .select(['due.tenant_id', 'due.id', 'due.publication_id'])
        .where('due.due_ms', '<=', by)
        .where((eb) => isLookedFor(eb, skipped))
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom('integration_deliveries as earlier')
                .select('earlier.id')
                .whereRef('earlier.tenant_id', '=', 'due.tenant_id')
                .whereRef('earlier.publication_id', '=', 'due.publication_id')
                .whereRef('earlier.scope', '=', 'due.scope')
                .where('earlier.due_ms', 'is not', null)
                .whereRef('earlier.id', '<', 'due.id'),
            ),
          ),
        )
        .orderBy('due.due_ms')
        .orderBy('due.id')
        .limit(limit)
        .execute(),

    /**
     * Across tenants: due threads, even when another process is telling them, because it may have died. `rung`: threads
     * whose session has news, which are due unless their receiver asked for a wait.
     */
    threadsToTell: (
      { by, rung, skipped }: { by: number; rung: readonly string[]; skipped: WorkInSlots },
      limit: number,
    ): Promise<DueThread[]> =>
      db
        .selectFrom('integration_threads as due')
        .select(['due.tenant_id', 'due.id', 'due.publication_id', 'due.session_id'])
        .where((eb) =>
          rung.length === 0
            ? eb('due.due_ms', '<=', by)
            : eb.or([
                eb('due.due_ms', '<=', by),
                eb.and([eb('due.id', 'in', rung), eb('due.begun', 'is', null)]),
              ]),
        )
        .where((eb) => isLookedFor(eb, skipped))
        .orderBy('due.due_ms')
        .limit(limit)
        .execute(),

    /**
     * Across tenants: threads with a running session whose repository's token is about to end or has ended within a
     * day.
     */
    threadsToRenew: ({ by, resting }: ToRenew, limit: number): Promise<Due[]> =>
      db
        .selectFrom('integration_threads')
        .select(['tenant_id', 'id'])
        .where('token_due_ms', '<=', by)
        .where('token_due_ms', '>', by - dayMs)
        .$if(resting.length > 0, (query) => query.where('id', 'not in', resting))
        .where('session_id', 'in', (eb) =>
          eb.selectFrom('session_heads').select('session_id').where('status', '=', 'running'),
        )
        .orderBy('token_due_ms')
        .limit(limit)
        .execute(),
    /** The external thread of the session in the publication. */
    threadOfSession: (tenant: string, publication: string, session: string) =>
      rows(db, 'integration_threads').find(tenant, (query) =>
        query.where('session_id', '=', session).where('publication_id', '=', publication),
      ),

    /** The pull request, where an agent of the publication has opened it. */
    ownPullRequest: (tenant: string, publication: string, scope: string) =>
      db
        .selectFrom('integration_pull_requests')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .where('publication_id', '=', publication)
        .where('scope', '=', scope)
        .executeTakeFirst(),

    threadOfScope: (tenant: string, publication: string, scope: string) =>
      rows(db, 'integration_threads').find(tenant, (query) =>
        query.where('publication_id', '=', publication).where('scope', '=', scope),
      ),
  }
}

function integrationWrites(db: Queries) {
  const remove = (
    table: 'integration_deliveries' | 'integration_threads' | 'integration_pull_requests',
    tenant: string,
    publication: string,
  ) =>
    db
      .deleteFrom(table)
      .where('tenant_id', '=', tenant)
      .where('publication_id', '=', publication)
      .execute()
  return {
    /** Notes that the agent has read the message of a delivery. */
    async noteRead(tenant: string, { session, event }: ReadEvent): Promise<void> {
      await db
        .updateTable('integration_deliveries')
        .set({ answer_state: 'working' })
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .where('event_id', '=', event)
        .where('answer_state', '=', 'waiting')
        .execute()
    },

    /** Notes what became of the answer to all deliveries that a turn of the session has read, and to the delivery `id`. */
    async settleAnswers(tenant: string, { session, id, end }: SettledAnswers): Promise<void> {
      // Of a deleted session nobody reads the messages that wait.
      const isDeleted = session !== null && id === `${session}.deleted`
      const open = isDeleted ? (['waiting', 'working'] as const) : (['working'] as const)
      await db
        .updateTable('integration_deliveries')
        .set(end)
        .where('tenant_id', '=', tenant)
        .where((eb) =>
          eb.or([
            eb('id', '=', id),
            ...(session === null
              ? []
              : [eb.and([eb('session_id', '=', session), eb('answer_state', 'in', open)])]),
          ]),
        )
        .execute()
    },

    /** Stops live publications until the installation has a new credential. */
    async stopPublications(tenant: string, installation: string, at: string): Promise<void> {
      await db
        .updateTable('publications')
        .set({ status: 'needs_reauth', updated_at: at })
        .where('tenant_id', '=', tenant)
        .where('installation_id', '=', installation)
        .where('status', '=', 'live')
        .execute()
    },

    /** Makes the vaults of the installation's publications get a new token soon. */
    async hurryTokens(tenant: string, installation: string, now: number): Promise<void> {
      await db
        .updateTable('publications')
        .set({ token_due_ms: now })
        .where('tenant_id', '=', tenant)
        .where('installation_id', '=', installation)
        .where('token_due_ms', '>', now)
        .execute()
    },
    /** Notes a pull request that an agent has opened. A second note of it changes nothing. */
    async notePullRequest(row: OwnPullRequest): Promise<void> {
      await db
        .insertInto('integration_pull_requests')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },

    /** Deletes the publication with its deliveries and threads. Its sessions stay. */
    async removePublication(tenant: string, id: string): Promise<void> {
      await remove('integration_deliveries', tenant, id)
      await remove('integration_threads', tenant, id)
      await remove('integration_pull_requests', tenant, id)
      await rows(db, 'publications').remove(tenant, id)
    },

    findThreadForUpdate: (tenant: string, publication: string, scope: string) =>
      rows(db, 'integration_threads').findForUpdate(tenant, (query) =>
        query.where('publication_id', '=', publication).where('scope', '=', scope),
      ),

    /** Makes the threads due, because their receiver accepts answers again. */
    async wakeThreads(tenant: string, publication: string, now: number): Promise<void> {
      await db
        .updateTable('integration_threads')
        .set({ due_ms: now })
        .where('tenant_id', '=', tenant)
        .where('publication_id', '=', publication)
        .where('session_id', 'is not', null)
        .execute()
    },

    /** Across tenants: deletes old deliveries. Returns the number. */
    async forgetDeliveries(before: string, limit: number): Promise<number> {
      await lockHolds(db)
      const old = db
        .selectFrom('integration_deliveries')
        .select(['tenant_id', 'id'])
        .where('created_at', '<', before)
        .where('due_ms', 'is', null)
        .where(unless(isWorkspaceHeld('integration_deliveries.tenant_id')))
        .orderBy('created_at')
        .limit(limit)
      const { numDeletedRows } = await db
        .deleteFrom('integration_deliveries')
        .where((where) =>
          where(where.refTuple('tenant_id', 'id'), 'in', old.$asTuple('tenant_id', 'id')),
        )
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    },
  }
}

type ReadEvent = { session: string; event: string }

type SettledAnswers = {
  session: string | null
  id: string
  end: Pick<DeliveryRow, 'answer_state' | 'answer_url' | 'answer_reason' | 'answer_event'>
}

/** Publications, their deliveries and their external threads. */
export const integrationStore = defineStore(integrationReads, integrationWrites)
