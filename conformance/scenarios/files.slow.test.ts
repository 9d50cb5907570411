import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import Anthropic, { BadRequestError, NotFoundError, toFile } from '@anthropic-ai/sdk'
import {
  FileExpiredError,
  FileNotDownloadableError,
  StorageQuotaExceededError,
} from '@anthropic-ai/sdk/resources/files'
import { toFile as oldestToFile } from '@anthropic-ai/sdk-oldest'
import { systemClock } from '@steward/base/time.ts'
import { postFile, uploadFile } from '../files.ts'
import type { LooseBody, TestService } from '../service.ts'
import { adminKey, boot, scenarioDatabases } from '../service.ts'
import { newSession } from '../turns.ts'
import { verifies } from '../verifies.ts'

const json = { accept: 'application/json' }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`files on ${database}`, () => {
    let service: TestService
    let now = () => Date.now()
    const clock = { ...systemClock, now: () => now() }
    before(async () => {
      const env = { FILES_LARGEST_MB: '2', FILES_WORKSPACE_MB: '2000' }
      service = await boot(database, { env, overrides: { clock } })
    })
    after(() => service.close())
    const files = () => service.client.files
    const upload = async (content: string | Buffer, name = 'a.txt') =>
      files().upload({ file: await toFile(Buffer.from(content), name, { type: 'text/csv' }) })

    verifies(
      [
        'files/upload',
        'files/get',
        'files/content',
        'files/list',
        'files/delete',
        'files/metadata',
      ],
      'the official client uploads, describes, downloads, lists and deletes them',
      async () => {
        const made = await upload('a,b\n1,2\n', 'data/2024/table.csv')
        assert.match(made.id, /^file_/)
        const { id, created_at, ...rest } = made
        assert.ok(Date.parse(created_at))
        assert.deepEqual(rest, {
          type: 'file',
          filename: 'table.csv',
          mime_type: 'text/csv',
          size_bytes: 8,
          downloadable: true,
          expires_at: null,
          scope: null,
        })
        assert.deepEqual(await files().retrieveMetadata(id), made)
        assert.equal(await (await files().download(id)).text(), 'a,b\n1,2\n')
        const listed = await Array.fromAsync(files().list({ limit: 2 }))
        assert.ok(listed.some((each) => each.id === id))
        const { data } = await files().list({ ids: ['file_none', id] })
        assert.deepEqual(data, [made])
        assert.deepEqual(await files().delete(id), { id, type: 'file_deleted' })
        await assert.rejects(files().retrieveMetadata(id), NotFoundError)
        await assert.rejects(files().download(id), NotFoundError)
      },
    )

    verifies(
      ['files/list/beside', 'files/list/scope'],
      'the oldest client does so too, and walks its pages by their ids',
      async () => {
        const old = service.oldest.beta.files
        const ids: string[] = []
        const session = await newSession(service)
        for (const name of ['1', '2', '3', '4', '5'])
          ids.push((await uploadFile(service, { name, fields: { session_id: session } })).id)
        const listed = await Array.fromAsync(old.list({ limit: 2, scope_id: session }))
        assert.deepEqual(
          listed.map(({ id }) => id),
          ids.toReversed(),
        )
        assert.deepEqual(listed[0]?.scope, { type: 'session', id: session })
        const back = await old.list({ limit: 2, scope_id: session, before_id: ids[1] ?? '' })
        assert.deepEqual(
          back.data.map(({ id }) => id),
          [ids[3], ids[2]],
        )
        const made = await old.upload({ file: await oldestToFile(Buffer.from('old'), 'x/old.txt') })
        assert.equal(made.filename, 'old.txt')
        assert.equal((await old.retrieveMetadata(made.id)).size_bytes, 3)
        assert.equal(await (await old.download(made.id)).text(), 'old')
        assert.equal((await old.delete(made.id)).type, 'file_deleted')
      },
    )

    verifies(
      'dialects/file-get',
      'a GET of a file gives the bytes, and its metadata to the official client or as JSON',
      async () => {
        const { id } = await uploadFile(service, { content: 'the bytes' })
        const get = (headers = {}) => service.raw('GET', `/v1/files/${id}`, undefined, headers)
        assert.equal(await (await get()).text(), 'the bytes')
        assert.equal(((await (await get(json)).json()) as LooseBody).id, id)
        const dialect = { 'anthropic-version': '2023-06-01' }
        assert.equal(((await (await get(dialect)).json()) as LooseBody).id, id)
        const head = await service.raw('HEAD', `/v1/files/${id}`)
        assert.deepEqual([head.status, head.headers.get('content-length')], [200, '9'])
      },
    )

    verifies(
      ['files/content/headers', 'files/upload/filename'],
      'no name and no type of a file says anything else to a browser',
      async () => {
        const names: [string, string | null][] = [
          ['plain.txt', 'plain.txt'],
          ['a/b\\c.txt', 'c.txt'],
          ['x"; filename="evil.html', 'x__ filename=_evil.html'],
          ['päper — ☃.pdf', null],
          ["it's (1)*.txt", null],
          ['é'.repeat(127), null],
        ]
        for (const [name, plain] of names) {
          const made = await uploadFile(service, { name, content: '<script>' })
          const { headers } = await service.raw('GET', `/v1/files/${made.id}/content`)
          const said = headers.get('content-disposition') ?? ''
          assert.match(said, /^attachment; filename="[^"\\\r\n]*"; filename\*=UTF-8''[\w.%~-]+$/)
          if (plain !== null) assert.ok(said.includes(`filename="${plain}"`), said)
          assert.equal(decodeURIComponent(said.split("''")[1] ?? ''), made['filename'])
          assert.equal(headers.get('x-content-type-options'), 'nosniff')
          assert.match(headers.get('content-security-policy') ?? '', /sandbox/)
        }
        for (const name of ['..', 'a/..', '.', 'a/', 'é'.repeat(128), 'bell\u0007', '\u202etxt']) {
          const refused = await postFile(service, { name })
          assert.equal(refused.status, 400, name)
          assert.match(await refused.text(), /filename|part header/)
        }
      },
    )

    const messageIn = (body: string): string =>
      (JSON.parse(body) as { error: { message: string } }).error.message

    verifies('files/content/ranges', 'a range of a file can be asked for', async () => {
      const { id } = await uploadFile(service, { content: '0123456789' })
      const ask = (range: string, more = {}) =>
        service.raw('GET', `/v1/files/${id}/content`, undefined, { range, ...more })
      const cases: [string, number, string, string | null][] = [
        ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
        ['bytes=7-', 206, '789', 'bytes 7-9/10'],
        ['bytes=-3', 206, '789', 'bytes 7-9/10'],
        ['bytes=0-99', 206, '0123456789', 'bytes 0-9/10'],
        ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
        ['bytes=10-', 416, 'range: the file has 10 bytes', 'bytes */10'],
        ['bytes=-0', 416, 'range: the file has 10 bytes', 'bytes */10'],
        ['bytes=4-2', 200, '0123456789', null],
        ['bytes=0-1,3-4', 200, '0123456789', null],
        ['lines=1-2', 200, '0123456789', null],
      ]
      for (const [range, status, text, said] of cases) {
        const answer = await ask(range)
        assert.equal(answer.status, status, range)
        assert.equal(answer.headers.get('content-range'), said, range)
        const told = await answer.text()
        assert.equal(status === 416 ? messageIn(told) : told, text, range)
      }
      const etag = (await ask('bytes=0-0')).headers.get('etag') ?? ''
      assert.equal((await ask('bytes=0-0', { 'if-range': etag })).status, 206)
      assert.equal((await ask('bytes=0-0', { 'if-range': '"other"' })).status, 200)
    })

    verifies(
      'files/list/ids',
      'names in a list of ids exclude the other filters of a list',
      async () => {
        const [a, b] = [await upload('a'), await upload('b')]
        const { data } = await files().list({ ids: [a.id, 'file_none', b.id, a.id] })
        assert.deepEqual(
          data.map(({ id }) => id),
          [a.id, b.id],
        )
        await assert.rejects(files().list({ ids: [a.id], limit: 1 }), BadRequestError)
        const many = Array.from({ length: 101 }, (_, i) => `file_${i}`)
        await assert.rejects(files().list({ ids: many }), BadRequestError)
        assert.deepEqual((await files().list({ ids: many.slice(1) })).data, [])
      },
    )

    verifies(
      'files/upload/session',
      'an upload for a session of another workspace is answered as for one that never was',
      async () => {
        const { key } = await service.otherWorkspace('second')
        const session = await newSession(service)
        const refused = await postFile(service, {
          fields: { session_id: session },
          headers: { 'x-api-key': key },
        })
        assert.equal(refused.status, 404)
        const none = await service.ask('GET', '/v1/files', undefined, { 'x-api-key': key })
        assert.deepEqual(none.body.data, [])
        await service.client.beta.sessions.archive(session)
        const late = await postFile(service, { fields: { session_id: session } })
        assert.equal(late.status, 400)
      },
    )

    verifies('files/expiry', 'an expired file is answered as expired for a month', async () => {
      const file = await toFile(Buffer.from('soon gone'), 'x')
      const { id } = await files().upload({ file, expires_in_seconds: 3600 })
      const start = Date.now()
      now = () => start + 3_599_000
      assert.equal(await (await files().download(id)).text(), 'soon gone')
      now = () => start + 3_700_000
      await assert.rejects(files().download(id), FileExpiredError)
      assert.equal((await files().retrieveMetadata(id)).id, id)
      now = () => Date.now()
    })
  })

  describe(`files under other settings on ${database}`, () => {
    verifies(
      ['files/downloadable', 'files/upload/quota', 'settings/store-backends'],
      'uploads may be kept from being downloaded, and a workspace has a quota',
      async () => {
        const env = { FILES_UPLOADS_DOWNLOADABLE: 'false', FILES_WORKSPACE_MB: '1' }
        const service = await boot(database, { env })
        try {
          const files = new Anthropic({ baseURL: service.base, apiKey: adminKey, maxRetries: 0 })
            .files
          const upload = async (bytes: number) =>
            files.upload({ file: await toFile(Buffer.alloc(bytes), 'x') })
          const first = await upload(600_000)
          assert.equal(first.downloadable, false)
          await assert.rejects(files.download(first.id), FileNotDownloadableError)
          await assert.rejects(upload(600_000), StorageQuotaExceededError)
          await upload(1024 * 1024 - 600_000)
          await assert.rejects(upload(1), StorageQuotaExceededError)
          await files.delete(first.id)
          await upload(600_000)
        } finally {
          await service.close()
        }
      },
    )

    verifies(
      ['files/upload/quota', 'resources/file/copy'],
      'a quota is not passed by uploads that come together, nor by bytes that only sessions hold',
      async () => {
        const service = await boot(database, { env: { FILES_WORKSPACE_MB: '1' } })
        try {
          const { files, beta } = service.client
          const upload = async (bytes: number) =>
            files.upload({ file: await toFile(Buffer.alloc(bytes), 'x') })
          const many = await Promise.allSettled(Array.from({ length: 8 }, () => upload(400_000)))
          const made = many.filter((each) => each.status === 'fulfilled')
          assert.equal(made.length, 2)
          const session = await newSession(service)
          const { id: file_id } = made[0]?.value ?? assert.fail()
          const copy = await beta.sessions.resources.add(session, { type: 'file', file_id })
          await files.delete(file_id)
          await assert.rejects(upload(400_000), StorageQuotaExceededError)
          await beta.sessions.resources.delete(copy.id, { session_id: session })
          await upload(400_000)
        } finally {
          await service.close()
        }
      },
    )
  })
}
