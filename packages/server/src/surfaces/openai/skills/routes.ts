/** Skills of the workspace. Only `/v1` offers built-in skills, where agents name them. */
import { AfterQuery, OpenAIDeleted, OpenAIListOf } from '@steward/protocol/openai/lists.ts'
import type { OpenAISkill, OpenAISkillVersion } from '@steward/protocol/openai/skills.ts'
import {
  OpenAISkillForm,
  OpenAISkillShown,
  OpenAISkillUpdate,
  OpenAISkillVersionFields,
  OpenAISkillVersionForm,
  OpenAISkillVersionShown,
} from '@steward/protocol/openai/skills.ts'
import { z } from 'zod'
import { invalid } from '../../../ground/core/errors.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { parseInput } from '../../../ground/http/bodies/body.ts'
import { contentBody, recordBody } from '../../../ground/http/limits.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { resolveVersionDigits, skillCatalog } from '../../../resources/skills/catalog.ts'
import { versionAnswer, versionContent } from '../../../resources/skills/content.ts'
import type { SkillDeps } from '../../../resources/skills/store-skill.ts'
import {
  addVersion,
  deleteSkill,
  deleteVersion,
  saveSkill,
} from '../../../resources/skills/store-skill.ts'
import { receiveFiles, receiveVersion } from '../../../resources/skills/receive-skill.ts'
import type { SkillRow, SkillVersionRow } from '../../../resources/skills/store.ts'
import { skillStore, versionDigits } from '../../../resources/skills/store.ts'
import { showOpenAIList, resolvePaging, unixSeconds } from '../page.ts'

const skills = section('The OpenAI surface', ['workspace'], '/openai/v1/skills')
const versions = section('The OpenAI surface', ['workspace'], '/openai/v1/skills/:id/versions')

const showOwn = ({ id, name, description, latest_version, created_at }: SkillRow): OpenAISkill => ({
  id,
  object: 'skill',
  name,
  description,
  default_version: latest_version ?? '',
  latest_version: latest_version ?? '',
  created_at: unixSeconds(created_at),
})

const showOwnVersion = (row: SkillVersionRow): OpenAISkillVersion => ({
  id: row.id,
  object: 'skill.version',
  skill_id: row.skill_id,
  version: versionDigits(row.id),
  name: row.name,
  description: row.description,
  created_at: unixSeconds(row.created_at),
})

/** Throws when the skill does not have this version. */
async function findVersion(
  read: Reads,
  tenant: string,
  { id, which }: { id: string; which: string },
) {
  const store = skillStore(read)
  return store.version(tenant, id, resolveVersionDigits(await store.row(tenant, id), which))
}

export const skillRoutes = (deps: SkillDeps): Route[] => [...ofSkills(deps), ...ofVersions(deps)]

function ofSkills(deps: SkillDeps): Route[] {
  const { databases, keeping } = deps
  const catalog = skillCatalog({ databases, blobs: keeping.blobs })
  const answer = OpenAISkillShown
  return [
    skills.raw.post(
      '',
      {
        summary: 'Create a skill',
        description: 'From the files of one folder with a SKILL.md, or from one zip archive of it.',
        form: OpenAISkillForm,
        limits: contentBody,
        counted: 'uploads',
        answer,
      },
      async (call, raw) => {
        const bundle = await receiveVersion(raw)
        return showOwn(await saveSkill(deps, call, { fields: {}, bundle }))
      },
    ),
    skills.get(
      '',
      { summary: 'List skills', query: AfterQuery, answer: OpenAIListOf(answer) },
      async ({ db, tenant, query }) => {
        const store = skillStore(db.read)
        const page = await resolvePaging(query, (id) => store.row(tenant, id))
        return showOpenAIList(await store.list(tenant, page), showOwn)
      },
    ),
    skills.get('/:id', { summary: 'Get a skill', answer }, async ({ db, tenant, params }) =>
      showOwn(await skillStore(db.read).row(tenant, params.id)),
    ),
    skills.post(
      '/:id',
      {
        summary: 'Update a skill',
        description: 'Accepts the version that is the default anyway: the newest one.',
        body: OpenAISkillUpdate,
        limits: recordBody,
        answer,
      },
      async ({ db, tenant, params: { id }, body: { default_version } }) => {
        const row = await skillStore(db.read).row(tenant, id)
        const { latest_version } = row
        if (resolveVersionDigits(row, default_version) !== latest_version)
          throw invalid(
            `default_version: is the newest version, ${latest_version}: name another one where the skill is used`,
          )
        return showOwn(row)
      },
    ),
    skills.delete(
      '/:id',
      {
        summary: 'Delete a skill and its versions',
        description: 'Sessions go on without the skill, and their agents are told.',
        answer: OpenAIDeleted('skill.deleted'),
      },
      async ({ db, tenant, params: { id } }) => {
        await deleteSkill(deps, { db, tenant }, id)
        return { id, deleted: true, object: 'skill.deleted' }
      },
    ),
    skills.raw.get(
      '/:id/content',
      { summary: 'Download a skill as a zip archive', ...versionAnswer },
      async ({ db, tenant, params: { id } }) =>
        versionContent(
          catalog,
          tenant,
          await findVersion(db.read, tenant, { id, which: 'latest' }),
        ),
    ),
  ]
}

function ofVersions(deps: SkillDeps): Route[] {
  const { databases, keeping } = deps
  const catalog = skillCatalog({ databases, blobs: keeping.blobs })
  const answer = OpenAISkillVersionShown
  return [
    versions.raw.post(
      '',
      {
        summary: 'Add a version of a skill',
        description:
          'It is the newest version, which new sessions take. Sessions that exist keep theirs.',
        form: OpenAISkillVersionForm,
        limits: contentBody,
        counted: 'uploads',
        answer,
      },
      async ({ db, tenant, params: { id } }, raw) => {
        await skillStore(db.read).row(tenant, id)
        const { bundle, fields } = await receiveFiles(raw)
        parseInput(OpenAISkillVersionFields, fields)
        return showOwnVersion(await addVersion(deps, { db, tenant }, { id, bundle }))
      },
    ),
    versions.get(
      '',
      { summary: 'List the versions of a skill', query: AfterQuery, answer: OpenAIListOf(answer) },
      async ({ db, tenant, params: { id }, query }) => {
        const store = skillStore(db.read)
        await store.row(tenant, id)
        const page = await resolvePaging(query, (which) =>
          findVersion(db.read, tenant, { id, which }),
        )
        return showOpenAIList(await store.versions(tenant, id, page), showOwnVersion)
      },
    ),
    versions.get(
      '/:version',
      { summary: 'Get a version of a skill', answer },
      async ({ db, tenant, params: { id, version: which } }) =>
        showOwnVersion(await findVersion(db.read, tenant, { id, which })),
    ),
    versions.delete(
      '/:version',
      {
        summary: 'Delete a version of a skill',
        description: 'The last version of a skill is refused.',
        answer: OpenAIDeleted('skill.version.deleted').extend({
          version: z.string().describe('The version that was deleted.'),
        }),
      },
      async ({ db, tenant, params: { id, version: which } }) => {
        const { id: version } = await findVersion(db.read, tenant, { id, which })
        await deleteVersion(deps, { db, tenant }, { id, which: version })
        const digits = versionDigits(version)
        return { id: version, version: digits, deleted: true, object: 'skill.version.deleted' }
      },
    ),
    versions.raw.get(
      '/:version/content',
      { summary: 'Download a version of a skill as a zip archive', ...versionAnswer },
      async ({ db, tenant, params: { id, version: which } }) =>
        versionContent(catalog, tenant, await findVersion(db.read, tenant, { id, which })),
    ),
  ]
}
