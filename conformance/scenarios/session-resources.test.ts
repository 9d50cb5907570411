import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { BadRequestError, NotFoundError, toFile } from '@anthropic-ai/sdk'
import { uploadFile } from '../files.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { newSession } from '../turns.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`resources of sessions on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const files = () => service.client.files
    const upload = async (content: string, name = 'a.txt') =>
      files().upload({ file: await toFile(Buffer.from(content), name) })

    verifies(
      ['resources/list', 'resources/get', 'resources/delete', 'resources/file/copy'],
      'a session gets a copy of its own of a file that is added to it',
      async () => {
        const session = await newSession(service)
        const { resources } = service.client.beta.sessions
        const source = await upload('shared bytes', 'notes.md')
        const added = await resources.add(session, { type: 'file', file_id: source.id })
        assert.match(added.id, /^sesrsc_/)
        assert.equal(added.mount_path, `/mnt/session/uploads/${source.id}`)
        assert.notEqual(added.file_id, source.id)
        const params = { session_id: session }
        assert.deepEqual(await resources.retrieve(added.id, params), added)
        assert.deepEqual(await Array.fromAsync(resources.list(session)), [added])
        const shown = await service.client.beta.sessions.retrieve(session)
        assert.deepEqual(shown.resources, [added])
        const { data } = await service.client.beta.files.list({ scope_id: session })
        assert.deepEqual(
          data.map(({ id, filename }) => [id, filename]),
          [[added.file_id, 'notes.md']],
        )
        await files().delete(source.id)
        assert.equal(await (await files().download(added.file_id)).text(), 'shared bytes')
        await assert.rejects(files().delete(added.file_id), BadRequestError)
        const gone = await resources.delete(added.id, params)
        assert.deepEqual(gone, { id: added.id, type: 'session_resource_deleted' })
        await assert.rejects(files().retrieveMetadata(added.file_id), NotFoundError)
        assert.deepEqual(await Array.fromAsync(resources.list(session)), [])
      },
    )

    verifies(
      ['resources/file/path'],
      'a mount path is refused where it could meet another, or is outside of its folders',
      async () => {
        const session = await newSession(service)
        const { id: file_id } = await upload('x')
        const add = (mount_path: string | null) =>
          service.client.beta.sessions.resources.add(session, { type: 'file', file_id, mount_path })
        for (const path of ['/workspace/data/a.csv', '/home/user/b', '/mnt/session/uploads/c/d'])
          assert.equal((await add(path)).mount_path, path)
        const bad = [
          'relative//a',
          '../a',
          '/mnt/../../etc/passwd',
          '/',
          '/workspace',
          '/workspace/',
          '/workspace//a',
          '/workspace/./a',
          '/workspace/../etc/passwd',
          '/mnt/session/outputs/a',
          '/mnt/memory/a',
          '/home/user/.skills/a',
          '/home/user/files/a',
          '/mnt/user/a',
          '/workspace/a\nb',
          `/workspace/${'x'.repeat(256)}`,
          '/workspace/data/a.csv',
          '/workspace/data',
          '/workspace/data/a.csv/b',
          'workspace/data/a.csv',
          '/mnt/session/uploads/workspace/data',
          'c/d',
          '/c',
        ]
        for (const path of bad) await assert.rejects(add(path), BadRequestError, path)
      },
    )

    verifies(
      ['resources/file/resolved', 'resources/resolved-path'],
      'a path outside of the folders of files is resolved below the uploads, and is shown as it was sent',
      async () => {
        const session = await newSession(service)
        const { id: file_id } = await upload('x')
        const { resources } = service.client.beta.sessions
        const lies = {
          'data.csv': '/mnt/session/uploads/data.csv',
          '/other.csv': '/mnt/session/uploads/other.csv',
          '/uploads/receipt.pdf': '/mnt/session/uploads/uploads/receipt.pdf',
          'logs/a.log': '/mnt/session/uploads/logs/a.log',
          '/etc/passwd': '/mnt/session/uploads/etc/passwd',
          '/workspacex/a': '/mnt/session/uploads/workspacex/a',
          'workspace/b': '/workspace/b',
          '/workspace/c': '/workspace/c',
        }
        for (const [mount_path, resolved_path] of Object.entries(lies)) {
          const added = await resources.add(session, { type: 'file', file_id, mount_path })
          assert.deepEqual({ ...added, mount_path, resolved_path }, added)
        }
        const taken = { type: 'file', file_id, mount_path: '/data.csv' } as const
        await assert.rejects(resources.add(session, taken), /mount_path: .* collides/)
        const listed = await Array.fromAsync(resources.list(session))
        assert.deepEqual(
          new Set(listed.map((each) => 'mount_path' in each && each.mount_path)),
          new Set(Object.keys(lies)),
        )
      },
    )

    verifies('resources/file/most', 'a resource beyond five hundred is refused', async () => {
      const session = await newSession(service)
      const { id: file_id } = await upload('x')
      const { resources } = service.client.beta.sessions
      const add = () =>
        resources.add(session, { type: 'file', file_id, mount_path: '/workspace/z' })
      await resources.add(session, { type: 'file', file_id })
      await service.tenantDatabase.write(async (tx) => {
        const rows = tx
          .selectFrom('session_resources')
          .selectAll()
          .where('session_id', '=', session)
        const first = await rows.executeTakeFirstOrThrow()
        for (let i = 2; i < 500; i++) {
          const row = { ...first, id: `sesrsc_${i}`, resolved_path: `/workspace/${i}` }
          await tx.insertInto('session_resources').values(row).execute()
        }
      })
      const { id } = await add()
      const shown = await service.client.beta.sessions.retrieve(session)
      assert.equal(shown.resources.length, 500)
      await assert.rejects(
        resources.add(session, { type: 'file', file_id, mount_path: '/workspace/y' }),
        BadRequestError,
      )
      await resources.delete(id, { session_id: session })
      await add()
    })

    verifies('files/of-session', 'the files of a session go with it', async () => {
      const session = await newSession(service)
      const own = await uploadFile(service, { fields: { session_id: session } })
      assert.deepEqual(own['scope'], { type: 'session', id: session })
      const source = await upload('stays')
      const { resources } = service.client.beta.sessions
      const added = await resources.add(session, { type: 'file', file_id: source.id })
      await service.client.beta.sessions.delete(session)
      for (const id of [own.id, added.file_id])
        await assert.rejects(files().retrieveMetadata(id), NotFoundError)
      assert.equal(await (await files().download(source.id)).text(), 'stays')
    })
  })
}
