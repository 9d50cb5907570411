import { randomBytes } from 'node:crypto'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import { AfterQuery, OpenAIDeleted, OpenAIListOf } from '@steward/protocol/openai/lists.ts'
import type { OpenAITemplate, OpenAITemplateUpdate } from '@steward/protocol/openai/templates.ts'
import {
  OpenAITemplateCreate,
  OpenAITemplateShown,
  OpenAITemplateUpdate as TemplateUpdate,
} from '@steward/protocol/openai/templates.ts'
import { rows } from '../../../ground/database/rows.ts'
import { contentBody } from '../../../ground/http/limits.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { toEnvironmentRecord, updateRecord } from '../../../resources/environments/record.ts'
import { environmentStore } from '../../../resources/environments/store.ts'
import { showOpenAIList, resolvePaging, unixSeconds } from '../page.ts'
import { toEnvironmentFields, showNetwork, showPackages } from '../sessions/environment.ts'
import type { EnvironmentRow } from './find.ts'
import { findTemplate } from './find.ts'
import type { FileDeps } from './inline-files.ts'
import { withStagedFiles } from './inline-files.ts'
import type { NamedFiles } from './mounts.ts'
import { checkMounts, checkSetup, toEnvironmentMounts, noMounts } from './mounts.ts'

const templates = section(
  'The OpenAI surface',
  ['workspace'],
  '/openai/v1/agents/environments/templates',
)
const answer = OpenAITemplateShown

/** Environments have unique names in this service; the wire shows these names as null. */
const unnamed = /^unnamed-[0-9a-f]{16}$/
export const unnamedName = (): string => `unnamed-${randomBytes(8).toString('hex')}`

const showTemplate = ({ id, record, created_at, updated_at }: EnvironmentRow): OpenAITemplate => ({
  id,
  object: 'agent.environment.template',
  name: unnamed.test(record.name) ? null : record.name,
  network: showNetwork(record),
  packages: showPackages(record),
  files: (record.mounts ?? noMounts).files.map((file) => ({ type: 'file_id', ...file })),
  skills: (record.mounts ?? noMounts).skills.map((skill) => ({
    type: 'skill_reference',
    ...skill,
  })),
  plugins: [],
  capability_directories: [],
  created_at: unixSeconds(created_at),
  updated_at: unixSeconds(updated_at),
})

/** Null clears a field. */
function changed(
  kept: EnvironmentRecord,
  given: NamedFiles<OpenAITemplateUpdate>,
): EnvironmentRecord {
  const cleared = {
    ...(given.network === null && { denylist: [], limited: false, allowlist: [] }),
    ...(given.packages === null && { packages: toEnvironmentRecord({ name: kept.name }).packages }),
  }
  const name = given.name === undefined ? kept.name : (given.name ?? unnamedName())
  const record = updateRecord({ ...kept, ...cleared }, { name, ...toEnvironmentFields(given) })
  return { ...record, mounts: toEnvironmentMounts(given, kept.mounts) }
}

export function templateRoutes(deps: FileDeps): Route[] {
  const { clock } = deps
  return [
    templates.post(
      '',
      {
        summary: 'Create a template',
        description: 'It is an environment of the workspace.',
        body: OpenAITemplateCreate,
        limits: contentBody,
        answer,
      },
      async ({ db, tenant, body }) => {
        const row = await withStagedFiles(deps, tenant, body, (named, keep) =>
          db.write(async (tx) => {
            await keep(tx)
            const mounts = toEnvironmentMounts(named)
            await checkMounts(tx, tenant, mounts)
            const name = body.name ?? unnamedName()
            const record = toEnvironmentRecord({ name, ...toEnvironmentFields(body) })
            const store = environmentStore(tx)
            const { id } = await store.create(tenant, { ...record, mounts }, clock.now())
            return rows(tx, 'environments').get(tenant, id)
          }),
        )
        return showTemplate(row)
      },
    ),
    templates.get(
      '',
      { summary: 'List templates', query: AfterQuery, answer: OpenAIListOf(answer) },
      async ({ db, tenant, query }) => {
        const environments = rows(db.read, 'environments')
        const page = await resolvePaging(query, (id) => environments.get(tenant, id))
        return showOpenAIList(
          await environments.list(tenant, page, { archived: false }),
          showTemplate,
        )
      },
    ),
    templates.get('/:id', { summary: 'Get a template', answer }, async ({ db, tenant, params }) =>
      showTemplate(await findTemplate(db.read, tenant, params.id)),
    ),
    templates.post(
      '/:id',
      {
        summary: 'Update a template',
        description: 'Only sandboxes that start afterwards see the change.',
        body: TemplateUpdate,
        limits: contentBody,
        answer,
      },
      async ({ db, tenant, params: { id }, body }) => {
        const row = await withStagedFiles(deps, tenant, body, (named, keep) =>
          db.write(async (tx) => {
            await keep(tx)
            await findTemplate(tx, tenant, id)
            const change = (kept: EnvironmentRecord) => changed(kept, named)
            await environmentStore(tx).update(tenant, id, change, clock.now())
            const updated = await rows(tx, 'environments').get(tenant, id)
            checkSetup(updated.record)
            await checkMounts(tx, tenant, updated.record.mounts ?? noMounts)
            return updated
          }),
        )
        return showTemplate(row)
      },
    ),
    templates.delete(
      '/:id',
      {
        summary: 'Delete a template',
        description: 'Archives the environment: its sessions continue.',
        answer: OpenAIDeleted('agent.environment.template.deleted'),
      },
      async ({ db, tenant, params: { id } }) => {
        await db.write(async (tx) => {
          await findTemplate(tx, tenant, id)
          await environmentStore(tx).archive(tenant, id, clock.now())
        })
        return { id, deleted: true, object: 'agent.environment.template.deleted' }
      },
    ),
  ]
}
