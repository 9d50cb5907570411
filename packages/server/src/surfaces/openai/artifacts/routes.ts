import { OpenAIArtifactListQuery, OpenAIArtifactShown } from '@steward/protocol/openai/artifacts.ts'
import type { OpenAIArtifact } from '@steward/protocol/openai/artifacts.ts'
import { OpenAIDeleted, OpenAIListOf } from '@steward/protocol/openai/lists.ts'
import type { BlobKeeping } from '../../../ground/blobs/blob-keeping.ts'
import { notFound } from '../../../ground/core/errors.ts'
import type { Reads } from '../../../ground/database/database.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { Ground } from '../../../ground/ground.ts'
import { downloadAnswers, downloadFile } from '../../../resources/files/download.ts'
import { deleteFile, discardBytes } from '../../../resources/files/remove.ts'
import { readEvents } from '../../../sessions/log/log.ts'
import { outputStore } from '../../../sessions/rows/outputs.ts'
import type { SessionRow } from '../../../sessions/rows/sessions.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { outputsPath } from '@steward/sandbox/sandbox.ts'
import { defaultLimit, openaiList, unixSeconds, unknownAfter } from '../page.ts'
import type { SessionLog } from '../turns/turns.ts'
import { turnAt, turnsAround } from '../turns/turns.ts'

const artifacts = section(
  'The OpenAI surface',
  ['workspace'],
  '/openai/v1/agents/sessions/:id/artifacts',
)
const answer = OpenAIArtifactShown

/** The path of an output by its name, in which `~1` stands for a slash. */
const pathOf = (folder: string, name: string): string =>
  `${folder}/${name.replaceAll('~1', '/').replaceAll('~0', '~')}`

type ArtifactFile = Awaited<ReturnType<ReturnType<typeof outputStore>['shown']>>[number]

/**
 * The id of the turn that published at this time: the last turn that had begun. Outputs are published before the log
 * tells the end of their turn.
 */
async function turnIdAt(log: SessionLog, at: string): Promise<string> {
  const { read, tenant, session, thread } = log
  const [running] = await readEvents(read, tenant, session, {
    types: ['session.status_running'],
    processed: [{ op: '<=', at }],
    order: 'desc',
    limit: 1,
    thread,
  })
  if (!running) return ''
  return turnAt(await turnsAround(log, running.seq, running.seq), running.seq)?.id ?? ''
}

type ArtifactOwner = Pick<SessionRow, 'environment_id' | 'outputs_path'>

async function showArtifacts(
  log: SessionLog,
  { environment_id, outputs_path }: ArtifactOwner,
  files: readonly ArtifactFile[],
): Promise<OpenAIArtifact[]> {
  const turnIds = new Map<string, string>()
  for (const { created_at } of files)
    if (!turnIds.has(created_at)) turnIds.set(created_at, await turnIdAt(log, created_at))
  return files.map((file) => ({
    id: file.id,
    object: 'agent.session.artifact',
    session_id: log.session,
    turn_id: turnIds.get(file.created_at) ?? '',
    environment_id,
    path: pathOf(outputs_path ?? outputsPath, file.name),
    size_bytes: file.size_bytes,
    created_at: unixSeconds(file.created_at),
  }))
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The outputs of a session, oldest first. */
async function filesOf({ read, tenant, session }: SessionLog): Promise<ArtifactFile[]> {
  const files = await outputStore(read).shown(tenant, session)
  return files.toSorted((a, b) => compare(a.created_at, b.created_at) || compare(a.id, b.id))
}

export function artifactRoutes({
  keeping,
  clock,
  log,
}: Ground & { keeping: BlobKeeping }): Route[] {
  const { blobs } = keeping

  async function find(read: Reads, tenant: string, session: string, id: string) {
    const owner = await sessionStore(read).row(tenant, session)
    const log = { read, tenant, session, agent: owner.agent_id, thread: null }
    const file = (await filesOf(log)).find((each) => each.id === id)
    if (!file) throw notFound('artifact', id)
    return { log, owner, file }
  }

  return [
    artifacts.get(
      '',
      { summary: 'List artifacts', query: OpenAIArtifactListQuery, answer: OpenAIListOf(answer) },
      async ({ db: { read }, tenant, params: { id: session }, query }) => {
        const { limit = defaultLimit, order = 'desc', after } = query
        const owner = await sessionStore(read).row(tenant, session)
        const log = { read, tenant, session, agent: owner.agent_id, thread: null }
        const isOther =
          query.environment_id !== undefined && query.environment_id !== owner.environment_id
        const all = isOther ? [] : await filesOf(log)
        const ordered = order === 'asc' ? all : all.toReversed()
        const at = after === undefined ? -1 : ordered.findIndex((each) => each.id === after)
        if (after !== undefined && at === -1) throw unknownAfter(after)
        const page = ordered.slice(at + 1, at + 1 + limit)
        const shown = await showArtifacts(log, owner, page)
        return openaiList(shown, at + 1 + limit < ordered.length)
      },
    ),
    artifacts.get(
      '/:artifact_id',
      { summary: 'Get an artifact', answer },
      async ({ db, tenant, params: { id, artifact_id } }) => {
        const { log, owner, file } = await find(db.read, tenant, id, artifact_id)
        const [shown] = await showArtifacts(log, owner, [file])
        if (!shown) throw notFound('artifact', artifact_id)
        return shown
      },
    ),
    artifacts.raw.get(
      '/:artifact_id/content',
      { summary: 'Download an artifact', ...downloadAnswers },
      async ({ db, tenant, params: { id, artifact_id } }, raw) => {
        await find(db.read, tenant, id, artifact_id)
        return downloadFile({ blobs, clock }, { db, tenant, id: artifact_id }, raw)
      },
    ),
    artifacts.delete(
      '/:artifact_id',
      {
        summary: 'Delete an artifact',
        description:
          'Its name is listed no more, and the same content is not published again under that name.',
        answer: OpenAIDeleted('agent.session.artifact.deleted'),
      },
      async ({ db, tenant, params: { id, artifact_id } }) => {
        await find(db.read, tenant, id, artifact_id)
        const { blob_key } = await db.write((tx) =>
          deleteFile(tx, tenant, artifact_id, clock.now()),
        )
        await discardBytes({ keeping, log }, tenant, blob_key)
        return { id: artifact_id, deleted: true, object: 'agent.session.artifact.deleted' }
      },
    ),
  ]
}
