import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ResourceType } from '@steward/protocol/session-resources.ts'
import { iso } from '@steward/base/time.ts'
import { createSeal } from '../../ground/core/security/seal.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { fileStore } from '../../resources/files/store.ts'
import { storeIn } from '../../resources/memory-stores/fixture.ts'
import { newSession } from '../fixture.ts'
import { tenant } from '../log/fixture.ts'
import { resourceStore } from '../rows/resources.ts'
import { sessionStore } from '../rows/sessions.ts'
import { attachResources, detachResource } from './attach.ts'
import type { ResourceParams } from './kind.ts'
import { describeResources, resourceKinds } from './kinds.ts'

const now = 0
const seal = createSeal('a root secret for tests')
const kinds = resourceKinds({ seal, repositoryHosts: [], storeAccess: 'read_write' })

async function newFile(database: Database): Promise<string> {
  const file = {
    ...{ tenant_id: tenant, id: 'file_1', session_id: null, origin: 'upload' as const },
    ...{ filename: 'a.csv', mime_type: 'text/csv', size_bytes: 1, sha256: '', blob_key: 'k' },
    ...{ downloadable: 1, expires_at: null, created_at: iso(now) },
  }
  await database.write((tx) => fileStore(tx).insert(file))
  return file.id
}

/** A session with a resource of each type. */
async function given(database: Database) {
  const session = await newSession(database)
  const params: { [Type in ResourceType]: ResourceParams<Type> } = {
    file: { type: 'file', file_id: await newFile(database), mount_path: 'a.csv' },
    memory_store: { type: 'memory_store', memory_store_id: (await storeIn(database)).id },
    github_repository: { type: 'github_repository', url: 'https://git.example/a/b.git' },
  }
  const wanted = Object.values(params).map((resource) => ({ resource, at: '' }))
  const rows = await database.write((tx) =>
    attachResources(tx, kinds, { tenant, session, now }, wanted),
  )
  const remove = (type: ResourceType) => {
    const id = rows.find((row) => row.type === type)?.id ?? ''
    return database.write((tx) => detachResource(tx, kinds, { tenant, session, now }, id))
  }
  return { session, rows, remove }
}

describe('the kinds of resources of a session', () => {
  it('read their rows as they were attached, each with the fields of its type', async () => {
    await using opened = await databases.sqlite()
    const { session, rows } = await given(opened.database)
    const found = await resourceStore(opened.database.read).ofSession(tenant, session)
    const byId = (all: typeof rows) => all.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    assert.deepEqual(byId(found), byId(rows))
    assert.deepEqual(
      rows.map(({ type, fields }) => [type, Object.keys(fields)]),
      [
        ['file', ['file_id']],
        ['memory_store', ['memory_store_id', 'instructions', 'access', 'name', 'description']],
        ['github_repository', ['url', 'checkout']],
      ],
    )
  })

  it('describe repositories, files and stores to the agent, in this order, with paths that its tools can reach', async () => {
    await using opened = await databases.sqlite()
    const { read } = opened.database
    const { session } = await given(opened.database)
    const parts = await describeResources(
      kinds,
      read,
      await sessionStore(read).row(tenant, session),
    )
    const at = (toolHost: 'sandbox' | 'worker' | undefined) => parts.map((part) => part(toolHost))
    const [repositories, files, stores] = at('sandbox')
    assert.match(repositories ?? '', /\n- \/workspace\/b: https:\/\/git\.example\/a\/b\.git$/)
    assert.match(files ?? '', /\n- \/mnt\/session\/uploads\/a\.csv: a\.csv, asked for at a\.csv$/)
    assert.match(stores ?? '', /^# Memory stores[^]*## \/mnt\/memory\/notes\n/)
    assert.deepEqual(at('worker'), [repositories, '', ''])
    assert.deepEqual(at(undefined), [repositories, '', ''])
  })

  it('are fixed at the creation of the session, but for files', async () => {
    await using opened = await databases.sqlite()
    const { session, remove } = await given(opened.database)
    await assert.rejects(remove('memory_store'), /the memory stores of a session are fixed/)
    await assert.rejects(remove('github_repository'), /the repositories of a session are fixed/)
    await remove('file')
    const { read } = opened.database
    const left = await resourceStore(read).ofSession(tenant, session)
    assert.deepEqual(
      new Set(left.map(({ type }) => type)),
      new Set(['memory_store', 'github_repository']),
    )
    assert.deepEqual(await fileStore(read).allOfSession(tenant, session), [])
  })
})
