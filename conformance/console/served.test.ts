import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { serveRoutes } from '@steward/server/ground/http/fixture.ts'
import { consoleRoutes } from '@steward/server/surfaces/console/routes.ts'
import { verifies } from '../verifies.ts'

const script = 'console.log("the console")'
const page = '<!doctype html><html lang="en"><base href="/console/" /><p>shell</p></html>'

async function writeBuild(folder: string): Promise<void> {
  await mkdir(join(folder, 'assets'), { recursive: true })
  await writeFile(join(folder, 'index.html'), page)
  await writeFile(join(folder, 'assets/main-1a2b.js'), script)
  await writeFile(join(folder, 'assets/main-1a2b.js.gz'), gzipSync(script))
  await writeFile(join(folder, 'assets/main-1a2b.js.br'), brotliCompressSync(script))
  await writeFile(join(folder, 'secret.js'), 'not a file of the build')
  const files = { 'index.html': {}, 'assets/main-1a2b.js': { brotli: 1 } }
  await writeFile(join(folder, 'files.json'), JSON.stringify(files))
}

void describe('the console as it is served', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-console-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const servedAt = (publicUrl?: string) =>
    serveRoutes(consoleRoutes({ publicUrl, consoleFolder: folder }))

  verifies(
    'console/unbuilt',
    'says how to build while there is no build, and serves the build as soon as it is there',
    async () => {
      await using server = await servedAt()
      const none = await fetch(`${server.url}/console/sessions`)
      assert.equal(none.status, 503)
      assert.match(await none.text(), /npm run build/)
      assert.equal((await fetch(`${server.url}/console/assets/main-1a2b.js`)).status, 404)
      await writeBuild(folder)
      for (const path of ['/console', '/console/', '/console/sessions/sesn_1?event=2']) {
        const shell = await fetch(server.url + path)
        assert.equal(shell.status, 200, path)
        assert.match(await shell.text(), /<base href="\/console\/" \/><p>shell/, path)
      }
    },
  )

  verifies(
    ['console/files', 'console/files/absent'],
    'keeps hashed files for good, compressed as the browser takes them, and never answers the page for one',
    async () => {
      await using server = await servedAt()
      const url = `${server.url}/console/assets/main-1a2b.js`
      for (const encoding of ['br', 'gzip', undefined]) {
        const file = await fetch(url, { headers: { 'accept-encoding': encoding ?? 'identity' } })
        assert.equal(file.headers.get('content-encoding'), encoding ?? null)
        assert.equal(await file.text(), script)
        assert.match(file.headers.get('cache-control') ?? '', /immutable/)
        assert.match(file.headers.get('content-type') ?? '', /javascript/)
      }
      for (const path of ['main-0000.js', '..%2Fsecret.js', '..%2Ffiles.json', 'main-1a2b.js.br']) {
        const absent = await fetch(`${server.url}/console/assets/${path}`)
        assert.equal(absent.status, 404, path)
        assert.doesNotMatch(await absent.text(), /shell|not a file/, path)
      }
    },
  )

  verifies(
    ['console/policy', 'console/base-path'],
    'admits nothing but its own files, and lies where PUBLIC_URL says',
    async () => {
      await using server = await servedAt('https://x.example/steward/')
      const headers = { cookie: 'a=b; steward_theme=dark' }
      const shell = await fetch(`${server.url}/console/`, { headers })
      const policy = shell.headers.get('content-security-policy') ?? ''
      assert.match(policy, /default-src 'self'.*script-src 'self'.*frame-ancestors 'none'/)
      assert.doesNotMatch(policy, /unsafe|https?:/)
      assert.equal(shell.headers.get('referrer-policy'), 'no-referrer')
      assert.equal(shell.headers.get('x-content-type-options'), 'nosniff')
      assert.match(
        await shell.text(),
        /<html data-theme="dark" lang="en"><base href="\/steward\/console\/"/,
      )
      const odd = { cookie: 'steward_theme="><script>' }
      assert.match(
        await (await fetch(`${server.url}/console/`, { headers: odd })).text(),
        /<html lang/,
      )
    },
  )
})
