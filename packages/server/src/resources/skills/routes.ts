import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import { Deleted, ListOf, ListQuery } from '@steward/protocol/primitives.ts'
import {
  SkillArchiveForm,
  SkillForm,
  SkillListQuery,
  SkillShown,
  SkillVersionForm,
  SkillVersionShown,
} from '@steward/protocol/skills.ts'
import { notFound } from '../../ground/core/errors.ts'
import { pageOf, paging } from '../../ground/core/page.ts'
import type { Databases } from '../../ground/database/database.ts'
import { attachment } from '../../ground/http/attachment.ts'
import type { Reply } from '../../ground/http/reply.ts'
import { contentBody } from '../../ground/http/limits.ts'
import type { Route } from '../../ground/http/route.ts'
import { rawRoute, route } from '../../ground/http/route.ts'
import { refuseBuiltin, skillCatalog, sourceOf } from './catalog.ts'
import type { SkillDeps } from './keep.ts'
import { addVersion, deleteSkill, deleteVersion, saveSkill } from './keep.ts'
import { receiveArchive, receiveSkill, receiveVersion } from './receive.ts'
import type { SkillRow } from './store.ts'
import { filesOf, showSkill, showSkillVersion, versionDigits } from './store.ts'

const callers = ['workspace'] as const
const withClaim = ['workspace', 'claim'] as const
const section = 'Skills'

const shown = (row: SkillRow) => showSkill(row, sourceOf(row.id))

type Deps = SkillDeps & { databases: Databases }

export const skillRoutes = (deps: Deps): Route[] => [...ofSkills(deps), ...ofVersions(deps)]

function ofSkills(deps: Deps): Route[] {
  const { databases, keeping } = deps
  const catalog = skillCatalog({ databases, blobs: keeping.blobs })
  const answer = SkillShown
  const path = '/v1/skills/:id'
  return [
    rawRoute(
      {
        method: 'post',
        path: '/v1/skills',
        callers,
        section,
        summary: 'Create a skill',
        description: 'From the files of a form, or from JSON with the texts of its files.',
        form: SkillForm,
        limits: contentBody,
        answer,
      },
      async (call, raw) => shown(await saveSkill(deps, call, await receiveSkill(raw))),
    ),
    rawRoute(
      {
        method: 'post',
        path: '/v1/skills/upload',
        callers,
        section,
        summary: 'Upload a skill as a zip archive',
        form: SkillArchiveForm,
        answer,
      },
      async (call, raw) => shown(await saveSkill(deps, call, await receiveArchive(raw))),
    ),
    route(
      {
        method: 'get',
        path: '/v1/skills',
        callers,
        section,
        summary: 'List skills, the built-in ones among them',
        query: SkillListQuery,
        answer: ListOf(answer),
      },
      async ({ tenant, query }) => {
        const page = paging('skills', query)
        return pageOf('skills', page, await catalog.list(tenant, page, query.source), shown)
      },
    ),
    route(
      { method: 'get', path, callers, section, summary: 'Get a skill', answer },
      async ({ tenant, params: { id } }) => shown(await catalog.skill(tenant, id)),
    ),
    route(
      {
        method: 'delete',
        path,
        callers,
        section,
        summary: 'Delete a skill and its versions',
        answer: Deleted('skill_deleted'),
      },
      async ({ db, tenant, params: { id } }) => {
        await deleteSkill(deps, { db, tenant }, id)
        return { id, type: 'skill_deleted' }
      },
    ),
    rawRoute(
      {
        method: 'get',
        path: `${path}/files/:filename`,
        callers,
        section,
        summary: 'Download a file of a skill',
        description: 'Of its latest version. Encode the slashes of the name.',
        answer: 'bytes',
      },
      async ({ tenant, params: { id, filename } }) => {
        const version = await catalog.version(tenant, id)
        if (!filesOf(version).includes(filename)) throw notFound('file', `${id}/${filename}`)
        const [file] = await catalog.files(tenant, version, (each) => each === filename)
        if (!file) throw new Error(`${filename} is not in the archive of ${id}/${version.id}`)
        const { bytes } = file
        const isText = isUtf8(bytes) && !bytes.includes(0)
        const type = isText ? 'text/plain; charset=utf-8' : 'application/octet-stream'
        const body = Readable.from([bytes], { objectMode: false })
        const name = filename.split('/').at(-1) ?? filename
        return bytesOf({ body, size: bytes.byteLength, headers: attachment(name, type) })
      },
    ),
  ]
}

function ofVersions(deps: Deps): Route[] {
  const { databases, keeping } = deps
  const catalog = skillCatalog({ databases, blobs: keeping.blobs })
  const answer = SkillVersionShown
  const path = '/v1/skills/:id/versions'
  return [
    rawRoute(
      {
        method: 'post',
        path,
        callers,
        section,
        summary: 'Add a version',
        form: SkillVersionForm,
        limits: contentBody,
        answer,
      },
      async ({ db, tenant, params: { id } }, raw) => {
        refuseBuiltin(id, 'changed')
        await catalog.skill(tenant, id)
        const bundle = await receiveVersion(raw)
        return showSkillVersion(await addVersion(deps, { db, tenant }, { id, bundle }))
      },
    ),
    route(
      {
        method: 'get',
        path,
        callers,
        section,
        summary: 'List versions',
        query: ListQuery,
        answer: ListOf(answer),
      },
      async ({ tenant, params: { id }, query }) => {
        const scope = `skill_versions/${id}`
        const page = paging(scope, query)
        return pageOf(scope, page, await catalog.versions(tenant, id, page), showSkillVersion)
      },
    ),
    route(
      {
        method: 'get',
        path: `${path}/:version`,
        callers: withClaim,
        claim: 'skill',
        section,
        summary: 'Get a version by its number, its id, or as latest',
        answer,
      },
      async ({ tenant, params: { id, version } }) =>
        showSkillVersion(await catalog.version(tenant, id, version)),
    ),
    rawRoute(
      {
        method: 'get',
        path: `${path}/:version/content`,
        callers: withClaim,
        claim: 'skill',
        section,
        summary: 'Download a version as a zip archive with one folder',
        answer: 'bytes',
      },
      async ({ tenant, params: { id, version } }) => {
        const row = await catalog.version(tenant, id, version)
        const name = `${row.name}-${versionDigits(row.id)}.zip`
        return bytesOf({
          body: await catalog.archive(tenant, row),
          size: row.size_bytes,
          headers: [...attachment(name, 'application/zip'), ['etag', `"${row.sha256}"`]],
        })
      },
    ),
    route(
      {
        method: 'delete',
        path: `${path}/:version`,
        callers,
        section,
        summary: 'Delete a version',
        answer: Deleted('skill_version_deleted'),
      },
      async ({ db, tenant, params: { id, version } }) => ({
        id: await deleteVersion(deps, { db, tenant }, { id, which: version }),
        type: 'skill_version_deleted',
      }),
    ),
  ]
}

const bytesOf = ({
  body,
  size,
  headers,
}: {
  body: Readable
  size: number
  headers: [string, string][]
}): Reply => ({
  reply: 'raw',
  status: 200,
  headers: [...headers, ['content-length', String(size)]],
  body,
})
