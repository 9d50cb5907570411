/** The repository of an issue in the sandbox of its session, with an app's token for this repository alone. */
import type { RepositoryResource } from '@steward/protocol/session-resources.ts'
import type { TokenDeps } from '../installations/token.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { rotateToken } from '../../../sessions/resources/repositories.ts'
import { ofType, resourceStore } from '../../../sessions/rows/resources.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { tokenFor } from '../installations/app-access.ts'
import { getApp } from '../installations/apps.ts'
import type { Notes } from '../integration.ts'
import type { ExternalThreadRow, PublicationRow } from '../store.ts'
import type { JobContext } from '../job-context.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'
import { rows } from '../../../ground/database/rows.ts'

/** The session's token is renewed this long before `expiresMs`. */
const marginMs = 5 * 60_000

/** `token_due_ms`: the time from which the session needs a new token. */
export type CheckedOut = { resource: RepositoryResource; token_due_ms: number | null }

const repositoryOf = ({ spec }: PublicationRow, { repository }: Notes): string | undefined =>
  spec.github?.checkout && typeof repository === 'string' ? repository : undefined

/** Returns undefined when the publication checks out no repositories. Throws when the provider gives no token. */
export async function checkOut(
  deps: TokenDeps,
  context: JobContext,
  publication: PublicationRow,
  target: Notes,
): Promise<CheckedOut | undefined> {
  const repository = repositoryOf(publication, target)
  if (repository === undefined) return undefined
  const found = await tokenFor(deps, context, publication, repository)
  const { url } = getApp(deps.apps, publication.integration)
  return {
    resource: {
      type: 'github_repository',
      url: `${url}/${repository}`,
      authorization_token: found.token,
    },
    token_due_ms: found.expiresMs === undefined ? null : found.expiresMs - marginMs,
  }
}

/** Gives the session a new token when its token is about to end. An archived session keeps its token. */
export async function renewCheckout(
  deps: TokenDeps,
  context: JobContext,
  { id, session_id, token_due_ms, target, publication_id }: ExternalThreadRow,
): Promise<void> {
  if (session_id === null || token_due_ms === null || token_due_ms > deps.clock.now()) return
  const { db, tenant } = context
  const publication = await rows(db.read, 'publications').get(tenant, publication_id)
  const renewed = await checkOut(deps, context, publication, target)
  if (!renewed) return
  await db.write(async (tx) => {
    // The session is locked before the thread, in the same order as by code that posts into a session.
    await rotate(deps, tx, { tenant, session: session_id }, renewed.resource)
    const kept = await rows(tx, 'integration_threads').findForUpdate(tenant, id)
    if (kept?.session_id !== session_id) return
    await rows(tx, 'integration_threads').update(kept, { token_due_ms: renewed.token_due_ms })
  })
}

/** Replaces the token of the repository. A repository that people have removed from the session is not added again. */
async function rotate(
  { clock, seal }: TokenDeps,
  tx: Queries,
  { tenant, session }: SessionRef,
  { url, authorization_token }: RepositoryResource,
): Promise<void> {
  const row = await sessionStore(tx).getForUpdate(tenant, session)
  if (row.archived_at !== null || !authorization_token) return
  const all = ofType(await resourceStore(tx).ofSession(tenant, session), 'github_repository')
  const given = { tenant, session, now: clock.now(), seal }
  for (const { id, fields } of all)
    if (fields.url === url) await rotateToken(tx, given, id, authorization_token)
}
