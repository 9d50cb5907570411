/** Programs of sandboxes, through the gate. */
import assert from 'node:assert/strict'
import type { ExecFileException } from 'node:child_process'
import { execFile } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { GateWorld } from './gate-fixture.ts'
import { openTestGate } from './gate-fixture.ts'

type ProgramRun = { code: number; out: string; err: string }

async function run(setup: GateWorld, [program = '', ...args]: string[]): Promise<ProgramRun> {
  const ca = join(setup.folder, 'ca.pem')
  writeFileSync(ca, setup.authority.pem)
  const { port, close } = await setup.port()
  const proxy = `http://127.0.0.1:${port}`
  const env = {
    PATH: process.env['PATH'],
    HOME: setup.folder,
    HTTP_PROXY: proxy,
    http_proxy: proxy,
    HTTPS_PROXY: proxy,
    SSL_CERT_FILE: ca,
    CURL_CA_BUNDLE: ca,
    GIT_SSL_CAINFO: ca,
    NODE_EXTRA_CA_CERTS: ca,
    NODE_USE_ENV_PROXY: '1',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@a.example',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@a.example',
  }
  try {
    return await new Promise((resolve, reject) => {
      execFile(program, args, { env, timeout: 20_000 }, (error, out, err) => {
        if (error?.code === 'ENOENT') {
          reject(new Error(`${program} is missing: apt-get install ${program}`, { cause: error }))
        } else resolve({ code: codeOf(error), out, err })
      })
    })
  } finally {
    close()
  }
}

const codeOf = (error: ExecFileException | null): number =>
  error === null ? 0 : typeof error.code === 'number' ? error.code : -1

const refusing = {
  judge: ({ host }: { host: string }) =>
    Promise.resolve(
      host === 'bad.example'
        ? ({
            kind: 'refuse',
            reason: 'not_allowed',
            message: 'bad.example is not allowed',
          } as const)
        : ({ kind: 'read' } as const),
    ),
}

describe('curl', () => {
  it('gets and posts, in both protocols, and speaks HTTP/1.1 though it could do HTTP/2', async () => {
    await using setup = await openTestGate({
      listener(request, response) {
        let size = 0
        request.on('data', (chunk: Buffer) => {
          size += chunk.length
        })
        request.on('end', () => response.end(`${request.method} ${request.url} ${size}`))
      },
    })
    const big = join(setup.folder, 'big')
    writeFileSync(big, Buffer.alloc(5_000_000))
    const curl = ['curl', '-sS', '-w', ' %{http_version}']
    const got = await run(setup, [...curl, '--http2', 'https://a.example/x'])
    assert.equal(got.out, 'GET /x 0 1.1', got.err)
    const plain = await run(setup, [...curl, '--http2', 'http://a.example/y'])
    assert.equal(plain.out, 'GET /y 0 1.1', plain.err)
    // Above a megabyte curl waits for 100-continue.
    const posted = await run(setup, [...curl, '--data-binary', `@${big}`, 'https://a.example/z'])
    assert.equal(posted.out, 'POST /z 5000000 1.1', posted.err)
    const chunked = ['-H', 'Transfer-Encoding: chunked', '-T', big]
    const put = await run(setup, [...curl, ...chunked, 'https://a.example/z'])
    assert.equal(put.out, 'PUT /z 5000000 1.1', put.err)
  })

  it('reads 403 for a refused host', async () => {
    await using setup = await openTestGate(refusing)
    const tls = await run(setup, ['curl', '-sS', 'https://bad.example/'])
    assert.notEqual(tls.code, 0)
    assert.match(tls.err, /403/)
    const plain = await run(setup, ['curl', '-sS', 'http://bad.example/'])
    assert.match(plain.out, /"message":"bad\.example is not allowed"/)
    assert.equal(setup.refusals.length, 2)
  })
})

describe('git', () => {
  it('clones over https', async () => {
    const served: { root: string } = { root: '' }
    await using setup = await openTestGate({
      listener(request, response) {
        const path = join(served.root, (request.url ?? '').split('?')[0] ?? '')
        if (statSync(path, { throwIfNoEntry: false })?.isFile()) response.end(readFileSync(path))
        else response.writeHead(404).end()
      },
    })
    served.root = setup.folder
    const made = join(setup.folder, 'made')
    const bare = join(setup.folder, 'made.git')
    for (const step of [
      ['git', 'init', '-q', made],
      ['git', '-C', made, 'commit', '-q', '--allow-empty', '-m', 'the first'],
      ['git', 'clone', '-q', '--bare', made, bare],
      ['git', '-C', bare, 'update-server-info'],
    ]) {
      assert.equal((await run(setup, step)).code, 0)
    }
    const clone = join(setup.folder, 'clone')
    const cloned = await run(setup, ['git', 'clone', '-q', 'https://code.example/made.git', clone])
    assert.equal(cloned.code, 0, cloned.err)
    const log = await run(setup, ['git', '-C', clone, 'log', '--format=%s'])
    assert.equal(log.out, 'the first\n')
    assert.ok(setup.requests.every(({ url }) => url.origin === 'https://code.example'))
  })
})

describe('the fetch of Node', () => {
  it('goes through the proxy that its environment names', async () => {
    await using setup = await openTestGate(refusing)
    const script = `
      const good = await fetch('https://a.example/', { method: 'POST', body: 'x'.repeat(100000) })
      const bad = await fetch('https://bad.example/').catch((error) => String(error.cause?.message))
      process.stdout.write(JSON.stringify([await good.text(), bad]))
    `
    const got = await run(setup, [process.execPath, '--input-type=module', '-e', script])
    const [good, bad] = JSON.parse(got.out || `["${got.err}"]`) as string[]
    assert.equal(good, 'hello')
    assert.ok(bad)
    assert.deepEqual(
      setup.refusals.map(({ host }) => host),
      ['bad.example'],
    )
  })
})
