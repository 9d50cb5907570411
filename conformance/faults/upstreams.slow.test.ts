/** Upstreams that fail in the middle of an answer, called by the tools of an agent. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { gzipSync } from 'node:zlib'
import { declareServer, callTool, sessionOf, until, vaultOf } from '../mcp.ts'
import { all, logOf, only, post, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'
import type { UpstreamService, UpstreamRoutes } from './upstream-service.ts'
import { bearer, startUpstreamService, toolset } from './upstream-service.ts'

const token = 'a-token-of-faults-0123456789'
const lines = Array.from({ length: 5000 }, (_, n) => `${n * 7919}\n`)
const packed = gzipSync(lines.join(''))
const half = packed.subarray(0, packed.length / 2)

/** Long enough that the use of the credential is on disk. An answer that breaks off earlier becomes a 502. */
const passedOnMs = 150

/** Sends a head with these fields and one part of the body, and breaks off after the part was passed on. */
const cutAfter =
  (part: Buffer | string, head: Record<string, string>): UpstreamRoutes[string] =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/plain', ...head })
    response.write(part, () => setTimeout(() => response.destroy(), passedOnMs))
  }

const cuts: UpstreamRoutes = {
  '/cut': cutAfter('half', { 'content-length': '100' }),
  '/cut-in-chunks': cutAfter('half', {}),
  '/cut-packed': cutAfter(half, {
    'content-encoding': 'gzip',
    'content-length': String(packed.length),
  }),
  '/cut-packed-in-chunks': cutAfter(half, { 'content-encoding': 'gzip' }),
  '/cut-in-a-secret': cutAfter(token.slice(0, 12), { 'content-length': '100' }),
}
const ways: UpstreamRoutes = {
  ...cuts,
  '/reset': (_, request) => request.socket.destroy(),
  '/mcp': (_, request) => request.socket.destroy(),
  '/silent': () => {},
  '/silent-body': (response) => response.writeHead(200).write('half'),
}

const httpTool = (path: string) => ({
  type: 'custom',
  name: `ask_${path.slice(1).replaceAll('-', '_')}`,
  description: 'asks',
  input_schema: { type: 'object', properties: {} },
  execution: { type: 'http', endpoint: `https://api.example${path}` },
})

describe('upstreams that fail in the midst', () => {
  let upstream: UpstreamService
  before(async () => void (upstream = await startUpstreamService(ways)))
  after(() => upstream[Symbol.asyncDispose]())
  const vault = (...hosts: string[]) =>
    vaultOf(upstream.service, ...['api.example', ...hosts].map((host) => bearer(token, host)))
  const allLetGo = async (why: string): Promise<void> => {
    await until(() => upstream.open() === 0)
    assert.equal(upstream.open(), 0, why)
  }

  verifies(
    ['proxy/broken-off', 'proxy/caller/sandbox'],
    'a program in the sandbox takes no half for a whole, and the next call finds all in order',
    async () => {
      const session = await sessionOf(upstream.service, {
        tools: [toolset],
        vault_ids: [await vault()],
      })
      const report = 'curl -sk -o /dev/null -w "%{http_code} %{exitcode}"'
      const ask = async (path: string, { host = 'api.example', seconds = 20 } = {}) => {
        const command = `${report} -m ${seconds} https://${host}${path}; true`
        return (await upstream.said(session, `run: ${command}`)).text.trim()
      }
      for (const path of Object.keys(cuts)) {
        assert.match(await ask(path), /^200 (18|56)$/, path)
        // A tunnel, whose bytes the gate does not read.
        assert.match(await ask(path, { host: 'other.example' }), /^200 (18|56)$/, path)
      }
      assert.equal(await ask('/reset'), '502 0')
      assert.equal(await ask('/silent', { seconds: 1 }), '000 28')
      assert.equal(await ask('/silent-body', { seconds: 1 }), '200 28')
      assert.equal(await ask('/fine'), '200 0')
      await allLetGo('what nobody waits for any more')
    },
  )

  verifies(
    ['tools/http/result', 'events/type/error', 'tools/web-fetch'],
    'tools outside the sandbox give an error, and the session goes on',
    async () => {
      const paths = [...Object.keys(cuts), '/reset']
      const session = await sessionOf(upstream.service, {
        tools: [toolset, ...paths.map(httpTool)],
        servers: [declareServer('mcp.api.example', 'broken')],
        vault_ids: [await vault('mcp.api.example')],
      })
      for (const path of paths) {
        const fetching = callTool('web_fetch', { url: `https://api.example${path}` })
        for (const text of [callTool(httpTool(path).name), fetching]) {
          const { isError, text: said } = await upstream.said(session, text)
          assert.equal(isError, true, `${text}: ${said}`)
        }
      }
      const log = await logOf(upstream.service, session)
      const errors = all(log, 'session.error').map(({ error }) => (error as { type: string }).type)
      assert.deepEqual(new Set(errors), new Set(['mcp_connection_failed_error']))
      assert.equal((await upstream.said(session, 'run: echo on')).text.trim(), 'on')
      assert.ok(!JSON.stringify([log, upstream.service.logged]).includes(token))
    },
  )

  verifies('proxy/broken-off', 'a local child is cut off where its server was', async () => {
    const servers = Object.keys(cuts).map((path) => {
      return { name: path.slice(1), type: 'url', url: `https://api.example${path}` }
    })
    const session = await sessionOf(upstream.service, { servers, vault_ids: [await vault()] })
    for (const { name } of servers) {
      const path = `/v1/ext/mcp-proxy/${session}/${name}`
      const asked = upstream.service.raw('POST', path, {}).then((answer) => answer.text())
      await assert.rejects(asked, name)
    }
  })

  verifies(
    'turns/interrupt',
    'an interrupt releases an upstream that is silent, whoever waits for it',
    async () => {
      const session = await sessionOf(upstream.service, {
        tools: [toolset, httpTool('/silent')],
        vault_ids: [await vault()],
      })
      const url = 'https://api.example/silent'
      const waiting = [
        `run: curl -s ${url}`,
        callTool(httpTool('/silent').name),
        callTool('web_fetch', { url }),
      ]
      for (const text of waiting) {
        const before = upstream.noted.length
        const done = turn(upstream.service, session, text)
        await until(() => upstream.noted.length > before)
        await post(upstream.service, session, { type: 'user.interrupt' })
        assert.equal(only(await done, 'agent.tool_result')['is_error'], true, text)
        await allLetGo(text)
      }
    },
  )
})
