/** Environments on the wire of `/openai/v1`, and their files. */
import { OpenAIListOf } from '@steward/protocol/openai/lists.ts'
import type {
  OpenAIEnvironmentCreate,
  OpenAIEnvironmentFile,
  OpenAIEnvironmentFileQuery,
  OpenAIEnvironmentInfo,
} from '@steward/protocol/openai/templates.ts'
import {
  OpenAIEnvironmentCreate as EnvironmentCreate,
  OpenAIEnvironmentFileCreate,
  OpenAIEnvironmentFileQuery as FileQuery,
  OpenAIEnvironmentFileShown,
  OpenAIEnvironmentFilesShown,
  OpenAIEnvironmentInfoShown,
  OpenAIEnvironmentListQuery,
} from '@steward/protocol/openai/templates.ts'
import { conflict, invalid } from '../../../ground/core/errors.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { rows } from '../../../ground/database/rows.ts'
import { contentBody } from '../../../ground/http/limits.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { toEnvironmentRecord, updateRecord } from '../../../resources/environments/record.ts'
import { environmentStore } from '../../../resources/environments/store.ts'
import { vaultStore } from '../../../resources/vaults/store.ts'
import { attachResources } from '../../../sessions/resources/attach.ts'
import { checkInputs } from '../../../sessions/resources/supported.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { onceByKey } from '../idempotency.ts'
import { defaultLimit, openaiList, resolvePaging } from '../page.ts'
import { toEnvironmentFields } from '../sessions/environment.ts'
import type { EnvironmentRow, MountedFile } from './find.ts'
import { listMountedFiles, findTemplate, findOwnerSession } from './find.ts'
import type { FileDeps, KeepFiles } from './inline-files.ts'
import { withStagedFiles } from './inline-files.ts'
import type { NamedFiles } from './mounts.ts'
import { checkMounts, checkSetup, toEnvironmentMounts, noMounts } from './mounts.ts'
import { readSkillWords } from './skill-words.ts'
import { unnamedName } from './templates.ts'

const environments = section('The OpenAI surface', ['workspace'], '/openai/v1/agents/environments')
const answer = OpenAIEnvironmentInfoShown

async function showInfo(read: Reads, row: EnvironmentRow): Promise<OpenAIEnvironmentInfo> {
  const owner = await findOwnerSession(read, row)
  const files = await listMountedFiles(read, row, owner)
  const { skills } = row.record.mounts ?? noMounts
  const named = skills.map(({ skill_id, version }) => ({ skill_id, version: version ?? null }))
  const skillWords = await readSkillWords(read, row.tenant_id, named)
  const isUsable = row.archived_at === null || owner !== undefined
  return {
    id: row.id,
    object: 'agent.environment',
    type: 'openai_hosted',
    status: isUsable ? 'ready' : 'expired',
    files: files.map((file) => ({ ...file, type: 'file_id' })),
    skills: named.map((skill) => ({
      skill_id: skill.skill_id,
      type: 'skill_reference',
      ...skillWords(skill),
    })),
    plugins: [],
  }
}

const showFile = (
  environment_id: string,
  { path, size_bytes }: Pick<MountedFile, 'path' | 'size_bytes'>,
): OpenAIEnvironmentFile => ({ object: 'agent.environment.file', environment_id, path, size_bytes })

/** A page begins behind the path in `page`, so that a new file does not move the others. */
function pageOfFiles(
  files: readonly MountedFile[],
  { limit = defaultLimit, order = 'asc', path = '', page }: OpenAIEnvironmentFileQuery,
) {
  const sign = order === 'asc' ? 1 : -1
  const compare = (a: string, b: string) => (a < b ? -sign : a > b ? sign : 0)
  const left = files
    .filter((file) => file.path.startsWith(path))
    .filter((file) => page === undefined || compare(page, file.path) < 0)
    .toSorted((a, b) => compare(a.path, b.path))
  const shown = left.slice(0, limit)
  const more = left.length > shown.length
  return { shown, more, next: more ? (shown.at(-1)?.path ?? null) : null }
}

type EnvironmentGiven = Pick<OpenAIEnvironmentCreate, 'vault_ids'> & {
  given: NamedFiles<OpenAIEnvironmentCreate['environment']>
}

async function createEnvironment(
  tx: Queries,
  tenant: string,
  { given, vault_ids }: EnvironmentGiven,
  now: number,
): Promise<string> {
  const { environment_template_id: from } = given
  const kept = from === undefined ? undefined : await findTemplate(tx, tenant, from)
  const fields = { name: unnamedName(), ...toEnvironmentFields(given) }
  const record = kept ? updateRecord(kept.record, fields) : toEnvironmentRecord(fields)
  const named = toEnvironmentMounts(given, kept?.record.mounts)
  const mounts = { ...named, ...(vault_ids?.length && { vault_ids }) }
  checkSetup({ ...record, mounts }, 'environment.setup_commands')
  await checkMounts(tx, tenant, mounts, (index) => `environment.files.${index}.path`)
  for (const [index, vault] of (vault_ids ?? []).entries())
    await vaultStore(tx).getOpenForShare(tenant, vault, `vault_ids.${index}`)
  const { id } = await environmentStore(tx).create(tenant, { ...record, mounts }, now)
  return id
}

export function environmentRoutes(deps: FileDeps): Route[] {
  const { clock, kinds, workerInputs } = deps
  type AttachedFile = { file_id: string; path: string }

  /** Adds the file to the session that owns the environment. */
  async function attach(tx: Queries, tenant: string, session: string, given: AttachedFile) {
    const row = await sessionStore(tx).getOpenForUpdate(tenant, session)
    const resource = { type: 'file' as const, file_id: given.file_id, mount_path: given.path }
    const wanted = [{ resource, at: '' }]
    if (row.self_hosted === 1) checkInputs(kinds, wanted, workerInputs)
    await attachResources(tx, kinds, { tenant, session, now: clock.now() }, wanted)
  }

  /** Adds the file to all sessions that will be created with the environment. */
  async function mount(
    tx: Queries,
    { tenant_id: tenant, id }: EnvironmentRow,
    given: AttachedFile,
  ) {
    await environmentStore(tx).update(
      tenant,
      id,
      (kept) => {
        const { files, skills } = kept.mounts ?? noMounts
        if (files.some(({ path }) => path === given.path))
          throw conflict(`path: ${given.path} is a file of environment ${id} already`)
        return { ...kept, mounts: { ...kept.mounts, files: [...files, given], skills } }
      },
      clock.now(),
    )
    const { record } = await rows(tx, 'environments').get(tenant, id)
    await checkMounts(tx, tenant, record.mounts ?? noMounts, () => 'path')
  }

  return [
    environments.post(
      '',
      {
        summary: 'Create an environment',
        description: 'Sessions name it; each has a sandbox of its own.',
        body: EnvironmentCreate,
        limits: contentBody,
        answer,
      },
      async ({ db, tenant, body, header }) => {
        const key = header('idempotency-key')
        const keyed = { scope: 'environments', key, body }
        const id = await onceByKey(db, tenant, keyed, clock, (take) =>
          withStagedFiles(deps, tenant, body.environment, (given, keep) =>
            db.write(async (tx) => {
              await keep(tx)
              const now = clock.now()
              const { vault_ids } = body
              const created = await createEnvironment(tx, tenant, { given, vault_ids }, now)
              await take?.(tx, now, created)
              return created
            }),
          ),
        )
        const made = await rows(db.read, 'environments').find(tenant, id ?? '')
        if (!made) throw conflict('the environment of this Idempotency-Key was deleted meanwhile')
        return showInfo(db.read, made)
      },
    ),
    environments.get(
      '',
      {
        summary: 'List environments',
        query: OpenAIEnvironmentListQuery,
        answer: OpenAIListOf(answer),
      },
      async ({ db, tenant, query }) => {
        // A filter that matches nothing: this surface has no environments of another type.
        if (query.type === 'self_hosted') return openaiList([], false)
        const all = rows(db.read, 'environments')
        const page = await resolvePaging(query, (id) => all.get(tenant, id))
        const found = await all.list(tenant, page, { archived: false })
        const shown = await Promise.all(found.rows.map((row) => showInfo(db.read, row)))
        return openaiList(shown, found.more)
      },
    ),
    environments.get(
      '/:id',
      { summary: 'Get an environment', answer },
      async ({ db, tenant, params: { id } }) =>
        showInfo(db.read, await rows(db.read, 'environments').get(tenant, id)),
    ),
    environments.post(
      '/:id/files',
      {
        summary: 'Add a file to an environment',
        description:
          "Into the session's sandbox where the session has the environment for itself; else for sessions that are created from now on.",
        body: OpenAIEnvironmentFileCreate,
        limits: contentBody,
        answer: OpenAIEnvironmentFileShown,
      },
      async ({ db, tenant, params: { id }, body }) => {
        const { path } = body
        const add = (file_id: string, keep: KeepFiles) =>
          db.write(async (tx) => {
            await keep(tx)
            const row = await rows(tx, 'environments').get(tenant, id)
            const owner = await findOwnerSession(tx, row)
            if (owner) await attach(tx, tenant, owner, { file_id, path })
            else if (row.archived_at !== null)
              throw invalid(`environment ${id} is archived and cannot be changed`)
            else await mount(tx, row, { file_id, path })
            const now = await rows(tx, 'environments').get(tenant, id)
            return (await listMountedFiles(tx, now, owner)).at(-1)
          })
        const added = await withStagedFiles(deps, tenant, { files: [body] }, ({ files }, keep) =>
          add(files?.[0]?.file_id ?? '', keep),
        )
        return showFile(id, added ?? { path, size_bytes: 0 })
      },
    ),
    environments.get(
      '/:id/files',
      {
        summary: 'List the files of an environment',
        description: 'Those that were put there, not those that commands have written.',
        query: FileQuery,
        answer: OpenAIEnvironmentFilesShown,
      },
      async ({ db, tenant, params: { id }, query }) => {
        const row = await rows(db.read, 'environments').get(tenant, id)
        const files = await listMountedFiles(db.read, row, await findOwnerSession(db.read, row))
        const { shown, more, next } = pageOfFiles(files, query)
        const data = shown.map((file) => showFile(id, file))
        return { object: 'list', data, has_more: more, next }
      },
    ),
  ]
}
