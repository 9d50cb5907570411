import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Queries } from '@steward/server/ground/database/database.ts'
import { startServer } from './process.ts'
import { boot } from './service.ts'

/** Prints the URL of each file of a package as it is loaded. */
const hook = `import { registerHooks } from 'node:module'
registerHooks({ load(url, context, next) {
  if (url.includes('/node_modules/')) console.log('loaded ' + url)
  return next(url, context)
} })`

describe('a server that has started', () => {
  it('keeps no compiled code where other accounts could put theirs', async () => {
    await using stack = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'steward-start-'))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const program = fileURLToPath(import.meta.resolve('@steward/server/main.ts'))
    const temporary = join(folder, 'tmp')
    await mkdir(temporary)
    const env = { DATA_DIR: folder, TMPDIR: temporary, NODE_COMPILE_CACHE: undefined }
    const server = stack.use(await startServer(env, program))
    assert.equal(await server.stop(), 0)
    const left = await readdir(temporary)
    assert.deepEqual(
      left.filter((name) => name.includes('compile')),
      [],
    )
  })

  it('serves although its first look for work failed', async () => {
    let failed = 0
    const plugin: Parameters<Queries['withPlugin']>[0] = {
      transformQuery({ node }) {
        const isLook = /Distinct.*session_heads|session_heads.*Distinct/.test(JSON.stringify(node))
        if (isLook && failed++ === 0) throw new Error('the look fails')
        return node
      },
      transformResult: async ({ result }) => result,
    }
    const service = await boot('sqlite', {
      overrides: {
        database: (built) => ({ ...built, read: (built.read as Queries).withPlugin(plugin) }),
      },
    })
    await service.close()
    assert.ok(failed > 0)
    assert.match(service.logged.join('\n'), /a job failed.*look for sessions with work/)
  })

  it('has loaded no library that only some servers or some requests need', async () => {
    await using stack = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'steward-start-'))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const program = fileURLToPath(import.meta.resolve('@steward/server/main.ts'))
    const options = `--import=data:text/javascript,${encodeURIComponent(hook)}`
    const server = stack.use(
      await startServer({ DATA_DIR: folder, NODE_OPTIONS: options }, program),
    )
    await server.stop()
    const loaded = [...server.said().matchAll(/^loaded .*\/node_modules\/(.+)$/gm)]
    const files = loaded.map(([, file = '']) => file)
    const packages = files.map((file) => /^(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? file)
    const ofPostgres = /^(?:pg|pg-[\w-]+|postgres-[\w-]+|xtend)$/
    assert.deepEqual([...new Set(packages)].filter((name) => !ofPostgres.test(name)).toSorted(), [
      ...['@hono/node-server', '@vscode/ripgrep', 'aws4fetch', 'busboy', 'hono', 'kysely'],
      ...['streamsearch', 'undici', 'zod'],
    ])
    assert.ok(!files.includes('undici/index.js'), 'undici is loaded in parts')
  })
})
