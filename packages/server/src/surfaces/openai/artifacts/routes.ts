import { OpenAIArtifactListQuery, OpenAIArtifactShown } from '@steward/protocol/openai/artifacts.ts'
import type { OpenAIArtifact } from '@steward/protocol/openai/artifacts.ts'
import { OpenAIDeleted, OpenAIListOf } from '@steward/protocol/openai/lists.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Log } from '@steward/base/log.ts'
import type { Keeping } from '../../../ground/blobs/keeping.ts'
import { notFound } from '../../../ground/core/errors.ts'
import type { Database } from '../../../ground/database/database.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { download } from '../../../resources/files/download.ts'
import { deleteFile, discardBytes } from '../../../resources/files/remove.ts'
import { outputStore } from '../../../sessions/rows/outputs.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { defaultLimit, listOf, unixSeconds, unknownAfter } from '../page.ts'
import type { LoggedTurn } from '../turns/turn.ts'
import { turnsBefore } from '../turns/turns.ts'

const artifacts = section(
  'The OpenAI surface',
  ['workspace'],
  '/openai/v1/agents/sessions/:id/artifacts',
)
const answer = OpenAIArtifactShown

export type ArtifactRouteDeps = { keeping: Keeping; clock: Clock; log: Log }

/** Where the agent has written them. */
const folder = '/mnt/session/outputs/'

/** A name stands for a path in the folder: `~1` is its slash. */
const pathOf = (name: string): string => folder + name.replaceAll('~1', '/').replaceAll('~0', '~')

/** Outputs are published at the end of a turn: before it is told, and after its last call. */
const turnOf = (turns: readonly LoggedTurn[], at: string): string =>
  (turns.findLast(({ createdAt }) => createdAt <= at) ?? turns[0])?.id ?? ''

/** Turns that are looked at for the one that has published an artifact. */
const turnsRead = 100

async function artifactsOf(
  db: Database,
  tenant: string,
  session: string,
): Promise<OpenAIArtifact[]> {
  const { environment_id, agent_id: agent } = await sessionStore(db.read).row(tenant, session)
  const shown = await outputStore(db.read).shown(tenant, session)
  if (shown.length === 0) return []
  const log = { read: db.read, tenant, session, agent, thread: null }
  const { turns } = await turnsBefore(log, undefined, turnsRead)
  return shown
    .map((row): OpenAIArtifact => ({
      id: row.id,
      object: 'agent.session.artifact',
      session_id: session,
      turn_id: turnOf(turns, row.created_at),
      environment_id,
      path: pathOf(row.name),
      size_bytes: row.size_bytes,
      created_at: unixSeconds(row.created_at),
    }))
    .toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
}

export function artifactRoutes({ keeping, clock, log }: ArtifactRouteDeps): Route[] {
  const { blobs } = keeping

  async function find(db: Database, tenant: string, session: string, id: string) {
    const found = (await artifactsOf(db, tenant, session)).find((each) => each.id === id)
    if (!found) throw notFound('artifact', id)
    return found
  }

  return [
    artifacts.get(
      '',
      { summary: 'List artifacts', query: OpenAIArtifactListQuery, answer: OpenAIListOf(answer) },
      async ({ db, tenant, params: { id }, query }) => {
        const { limit = defaultLimit, order = 'desc', after, environment_id } = query
        const all = (await artifactsOf(db, tenant, id)).filter(
          (each) => environment_id === undefined || each.environment_id === environment_id,
        )
        const ordered = order === 'asc' ? all : all.toReversed()
        const at = after === undefined ? -1 : ordered.findIndex((each) => each.id === after)
        if (after !== undefined && at === -1) throw unknownAfter(after)
        const page = ordered.slice(at + 1, at + 1 + limit)
        return listOf(page, at + 1 + limit < ordered.length)
      },
    ),
    artifacts.get(
      '/:artifact_id',
      { summary: 'Get an artifact', answer },
      ({ db, tenant, params: { id, artifact_id } }) => find(db, tenant, id, artifact_id),
    ),
    artifacts.raw.get(
      '/:artifact_id/content',
      { summary: 'Download an artifact', answer: 'bytes' },
      async ({ db, tenant, params: { id, artifact_id } }, raw) => {
        await find(db, tenant, id, artifact_id)
        return download({ blobs, clock }, { db, tenant, id: artifact_id }, raw)
      },
    ),
    artifacts.delete(
      '/:artifact_id',
      { summary: 'Delete an artifact', answer: OpenAIDeleted('agent.session.artifact.deleted') },
      async ({ db, tenant, params: { id, artifact_id } }) => {
        await find(db, tenant, id, artifact_id)
        const { blob_key } = await db.write((tx) =>
          deleteFile(tx, tenant, artifact_id, clock.now()),
        )
        await discardBytes({ keeping, log }, tenant, blob_key)
        return { id: artifact_id, deleted: true, object: 'agent.session.artifact.deleted' }
      },
    ),
  ]
}
