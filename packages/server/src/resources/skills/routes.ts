import { Deleted, ListQuery } from '@steward/protocol/primitives.ts'
import {
  SkillArchiveForm,
  SkillBody,
  SkillForm,
  SkillListQuery,
  SkillShown,
  SkillVersionBody,
  SkillVersionForm,
  SkillVersionShown,
} from '@steward/protocol/skills.ts'
import { contentBody } from '../../ground/http/limits.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { refuseBuiltin, skillCatalog, sourceOf } from './catalog.ts'
import { fileAnswer, replyWithSkillFile, versionAnswer, versionContent } from './content.ts'
import type { SkillDeps } from './store-skill.ts'
import { addVersion, deleteSkill, deleteVersion, saveSkill } from './store-skill.ts'
import { receiveArchive, receiveSkill, receiveVersion } from './receive-skill.ts'
import type { SkillRow } from './store.ts'
import { showSkill, showSkillVersion } from './store.ts'

const skills = section('Skills', ['workspace'], '/v1/skills')
const versions = section('Skills', ['workspace'], '/v1/skills/:id/versions')

const withClaim = ['workspace', 'claim'] as const

const shown = (row: SkillRow) => showSkill(row, sourceOf(row.id))

export const skillRoutes = (deps: SkillDeps): Route[] => [...ofSkills(deps), ...ofVersions(deps)]

function ofSkills(deps: SkillDeps): Route[] {
  const { databases, keeping } = deps
  const catalog = skillCatalog({ databases, blobs: keeping.blobs })
  const answer = SkillShown
  return [
    skills.raw.post(
      '',
      {
        summary: 'Create a skill',
        description: 'From the files of a form, or from JSON with the texts of its files.',
        form: SkillForm,
        formAsJson: SkillBody,
        limits: contentBody,
        counted: 'uploads',
        answer,
      },
      async (call, raw) => shown(await saveSkill(deps, call, await receiveSkill(raw))),
    ),
    skills.raw.post(
      '/upload',
      {
        summary: 'Upload a skill as a zip archive',
        description:
          'Suits large skills and binary files. With the `id` of a skill of the workspace the skill gets another version.',
        isExtension: true,
        form: SkillArchiveForm,
        counted: 'uploads',
        answer,
      },
      async (call, raw) => shown(await saveSkill(deps, call, await receiveArchive(raw))),
    ),
    skills.list(
      '',
      { summary: 'List skills, the built-in ones among them', query: SkillListQuery, answer },
      {
        scope: 'skills',
        rows: ({ tenant, query }, page) => catalog.list(tenant, page, query.source),
        show: shown,
      },
    ),
    skills.get('/:id', { summary: 'Get a skill', answer }, async ({ tenant, params: { id } }) =>
      shown(await catalog.skill(tenant, id)),
    ),
    skills.remove(
      '/:id',
      {
        summary: 'Delete a skill and its versions',
        description:
          'Sessions go on without the skill, and their agents are told. Built-in skills are refused.',
        type: 'skill_deleted',
      },
      ({ db, tenant, params: { id } }) => deleteSkill(deps, { db, tenant }, id),
    ),
    skills.raw.get(
      '/:id/files/:filename',
      {
        summary: 'Download a file of a skill',
        isExtension: true,
        description: 'Of its latest version. Encode the slashes of the name.',
        ...fileAnswer,
      },
      async ({ tenant, params: { id, filename } }) =>
        replyWithSkillFile(catalog, tenant, await catalog.version(tenant, id), filename),
    ),
  ]
}

function ofVersions(deps: SkillDeps): Route[] {
  const { databases, keeping } = deps
  const catalog = skillCatalog({ databases, blobs: keeping.blobs })
  const answer = SkillVersionShown
  return [
    versions.raw.post(
      '',
      {
        summary: 'Add a version of a skill',
        description:
          'Sessions keep the versions that they have. A version with another name in SKILL.md is refused.',
        form: SkillVersionForm,
        formAsJson: SkillVersionBody,
        limits: contentBody,
        counted: 'uploads',
        answer,
      },
      async ({ db, tenant, params: { id } }, raw) => {
        refuseBuiltin(id, 'changed')
        await catalog.skill(tenant, id)
        const bundle = await receiveVersion(raw)
        return showSkillVersion(await addVersion(deps, { db, tenant }, { id, bundle }))
      },
    ),
    versions.list(
      '',
      { summary: 'List the versions of a skill', query: ListQuery, answer },
      {
        scope: ({ id }) => `skill_versions/${id}`,
        rows: ({ tenant, params: { id } }, page) => catalog.versions(tenant, id, page),
        show: showSkillVersion,
      },
    ),
    versions.get(
      '/:version',
      {
        callers: withClaim,
        claim: 'skill',
        summary: 'Get a version of a skill by its number, its id, or as latest',
        answer,
      },
      async ({ tenant, params: { id, version } }) =>
        showSkillVersion(await catalog.version(tenant, id, version)),
    ),
    versions.raw.get(
      '/:version/content',
      {
        callers: withClaim,
        claim: 'skill',
        summary: 'Download a version as a zip archive with one folder',
        ...versionAnswer,
      },
      async ({ tenant, params: { id, version } }) => {
        return versionContent(catalog, tenant, await catalog.version(tenant, id, version))
      },
    ),
    versions.raw.get(
      '/:version/files/:filename',
      {
        summary: 'Download a file of a version',
        isExtension: true,
        description: 'Encode the slashes of the name.',
        ...fileAnswer,
      },
      async ({ tenant, params: { id, version, filename } }) =>
        replyWithSkillFile(catalog, tenant, await catalog.version(tenant, id, version), filename),
    ),
    versions.delete(
      '/:version',
      {
        summary: 'Delete a version of a skill',
        description:
          'Sessions that have the version go on without the skill. The last version of a skill is refused with 400.',
        answer: Deleted('skill_version_deleted'),
      },
      async ({ db, tenant, params: { id, version } }) => ({
        id: await deleteVersion(deps, { db, tenant }, { id, which: version }),
        type: 'skill_version_deleted',
      }),
    ),
  ]
}
