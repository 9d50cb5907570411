import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { toFile } from '@anthropic-ai/sdk'
import { postFile } from '../files.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot, scenarioDatabases } from '../service.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`uploads on ${database}`, () => {
    let service: TestService
    before(async () => {
      service = await boot(database, { env: { FILES_LARGEST_MB: '2' } })
    })
    after(() => service.close())
    const files = () => service.client.files
    const upload = async (content: string | Buffer) =>
      files().upload({ file: await toFile(Buffer.from(content), 'a.txt') })

    verifies(
      ['files/upload/form', 'files/expiry/range'],
      'a body of another form is refused by name, and nothing of it stays',
      async () => {
        const before = (await files().list({ limit: 1000 })).data.length
        const form = (fill: (form: FormData) => void) => {
          const made = new FormData()
          fill(made)
          return made
        }
        const blob = new Blob(['x'])
        const ok = (made: FormData) => made.set('file', blob, 'a')
        const cases: [FormData | string, RegExp, number?][] = [
          ['{"file": "x"}', /multipart\/form-data/],
          [form(() => {}), /file: is required|cannot be read/],
          [form((made) => made.set('file', 'text')), /file: must be a file/],
          [form((made) => made.set('files', blob, 'a')), /files: unknown field/],
          [form((made) => (ok(made), made.set('purpose', 'x'))), /purpose: unknown field/],
          [form((made) => (ok(made), made.set('__proto__', 'x'))), /__proto__: unknown field/],
          [form((made) => (ok(made), made.append('file', blob, 'b'))), /one file/],
          [form((made) => (made.set('session_id', 'sesn_none'), ok(made))), /sesn_none/, 404],
          [form((made) => (ok(made), made.set('session_id', 'sesn_none'))), /sesn_none/, 404],
          ...['3599', '7776001', 'x', '1.5', '-1'].map((value): [FormData, RegExp] => [
            form((made) => (made.set('expires_in_seconds', value), ok(made))),
            /expires_in_seconds/,
          ]),
          [
            form((made) => {
              made.append('expires_in_seconds', '3600')
              made.append('expires_in_seconds', '3600')
              ok(made)
            }),
            /sent twice/,
          ],
        ]
        for (const [body, message, status = 400] of cases) {
          const answer = await fetch(`${service.base}/v1/files`, {
            method: 'POST',
            headers: { 'x-api-key': adminKey },
            body,
          })
          const said = await answer.text()
          assert.equal(answer.status, status, said)
          assert.match(said, message)
        }
        for (const part of ['form-data', 'form-data; filename="a"']) {
          const answer = await fetch(`${service.base}/v1/files`, {
            method: 'POST',
            headers: { 'x-api-key': adminKey, 'content-type': 'multipart/form-data; boundary=b' },
            body: `--b\r\ncontent-disposition: ${part}\r\n\r\nx\r\n--b--\r\n`,
          })
          assert.equal(answer.status, 400)
          assert.match(
            await answer.text(),
            /a part of the form has no name; the file is named file/,
          )
        }
        for (const expires_in_seconds of [3600, 7_776_000]) {
          const file = await toFile(Buffer.from('x'), 'x')
          const { id, created_at, expires_at } = await files().upload({ file, expires_in_seconds })
          const ms = Date.parse(expires_at ?? '') - Date.parse(created_at)
          assert.equal(ms, expires_in_seconds * 1000)
          await files().delete(id)
        }
        assert.equal((await files().list({ limit: 1000 })).data.length, before)
      },
    )

    verifies(
      'files/upload/atomic',
      'nothing stays of an upload whose caller disconnects',
      async () => {
        const folder = join(service.dataDir, 'blobs')
        const stored = async () =>
          (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) =>
            each.isFile(),
          ).length
        const before = await stored()
        const leave = new AbortController()
        let pulled = 0
        const body = new ReadableStream({
          async pull(controller) {
            if (pulled === 0)
              controller.enqueue(
                Buffer.from(
                  '--edge\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n',
                ),
              )
            if (++pulled < 10) return controller.enqueue(Buffer.alloc(100_000))
            while ((await stored()) === before)
              await new Promise((resolve) => setImmediate(resolve))
            leave.abort()
          },
        })
        const headers = {
          'x-api-key': adminKey,
          'content-type': 'multipart/form-data; boundary=edge',
        }
        const url = `${service.base}/v1/files`
        const { signal } = leave
        await assert.rejects(fetch(url, { method: 'POST', headers, body, duplex: 'half', signal }))
        while ((await stored()) !== before) await new Promise((resolve) => setImmediate(resolve))
        const loose = service.tenantDatabase.read.selectFrom('loose_blobs').selectAll()
        while ((await loose.execute()).length > 0)
          await new Promise((resolve) => setImmediate(resolve))
      },
    )

    it('come back byte for byte, whatever in them looks like the edge of a part', async () => {
      const edges = ['\r\n', '--', '\r\n--', '\r\n------formdata', '\n--edge', '\r']
      const parts = Array.from({ length: 3000 }, (_, i) =>
        i % 3 === 0 ? Buffer.from(edges[i % edges.length] ?? '') : randomBytes((i * 7919) % 1000),
      )
      const content = Buffer.concat(parts)
      const made = await Promise.all([1, 2, 3, 4].map(() => upload(content)))
      for (const { id, size_bytes } of made) {
        assert.equal(size_bytes, content.length)
        const got = Buffer.from(await (await files().download(id)).arrayBuffer())
        assert.ok(got.equals(content))
      }
    })

    it('forms that are cut or scrambled are refused, and the server goes on', async () => {
      const boundary = 'edge'
      const head = (name: string) =>
        `--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="a"\r\n\r\n`
      const whole = `${head('file')}body\r\n--${boundary}--\r\n`
      const bodies = [
        '',
        whole.slice(0, 30),
        whole.slice(0, -10),
        whole.replace('form-data', 'form-dat'),
        whole.replace('content-disposition', 'x'.repeat(100_000)),
        `${head('file')}body`,
        randomBytes(100_000).toString('latin1'),
        ...Array.from({ length: 40 }, (_, i) => {
          const at = (i * 37) % whole.length
          return whole.slice(0, at) + String.fromCharCode((i * 61) % 256) + whole.slice(at + 3)
        }),
      ]
      for (const body of bodies) {
        const answer = await fetch(`${service.base}/v1/files`, {
          method: 'POST',
          headers: {
            'x-api-key': adminKey,
            'content-type': `multipart/form-data; boundary=${boundary}`,
          },
          body: Buffer.from(body, 'latin1'),
        })
        assert.ok([200, 400].includes(answer.status), `${answer.status} for ${body.slice(0, 200)}`)
        await answer.text()
      }
      assert.ok(!service.logged.some((line) => line.includes('a request failed')))
    })

    verifies('files/upload/too-large', 'one byte more than the limit is refused', async () => {
      const exact = await upload(Buffer.alloc(2 * 1024 * 1024))
      assert.equal(exact.size_bytes, 2 * 1024 * 1024)
      const stream = (bytes: number) =>
        fetch(`${service.base}/v1/files`, {
          method: 'POST',
          headers: {
            'x-api-key': adminKey,
            'content-type': 'multipart/form-data; boundary=edge',
          },
          body: new ReadableStream({
            start(controller) {
              const head =
                '--edge\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
              controller.enqueue(Buffer.from(head))
              controller.enqueue(Buffer.alloc(bytes))
              controller.enqueue(Buffer.from('\r\n--edge--\r\n'))
              controller.close()
            },
          }),
          duplex: 'half',
        })
      assert.equal((await stream(2 * 1024 * 1024)).status, 200)
      assert.equal((await stream(2 * 1024 * 1024 + 1)).status, 413)
      const declared = await postFile(service, { content: Buffer.alloc(3 * 1024 * 1024) })
      assert.equal(declared.status, 413)
    })
  })
}
