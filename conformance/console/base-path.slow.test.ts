import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { describe } from 'node:test'
import { firstLink, password } from '../people.ts'
import { boot } from '../service.ts'
import { verifies } from '../verifies.ts'
import { assertNoFaults, buildConsole, openBrowser } from './browser.ts'

const prefix = '/steward'

/** A proxy that takes the prefix away, as operators set one up. */
async function proxyTo(target: () => string) {
  const server = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming
    if (!url.startsWith(`${prefix}/`)) return void outgoing.writeHead(404).end()
    const path = new URL(url.slice(prefix.length), target())
    const passed = request(path, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return { port: address.port, close: () => (server.closeAllConnections(), server.close()) }
}

void describe('the console behind a proxy', () => {
  verifies(
    ['console/base-path', 'sign-in/pages/link'],
    'lies below the path of PUBLIC_URL with the pages of sign-in, by the same build',
    async () => {
      await buildConsole()
      let target = ''
      const proxy = await proxyTo(() => target)
      const base = `http://127.0.0.1:${proxy.port}`
      const service = await boot('sqlite', { env: { PUBLIC_URL: base + prefix } })
      target = service.base
      const browser = await openBrowser()
      try {
        const visit = await browser.visit(base + prefix)
        const { page } = visit
        await page.goto(`${base}${prefix}/signin/invitation#${firstLink(service)}`)
        await page.getByLabel('Email').fill('ada@example.com')
        await page.getByLabel('Your name').fill('Ada')
        await page.getByLabel('New password').fill(password)
        await page.getByRole('button', { name: 'Join' }).click()
        await page.getByRole('heading', { name: 'Home' }).waitFor()
        assert.equal(page.url(), `${base}${prefix}/console/`)
        await page.getByRole('link', { name: 'Files', exact: true }).click()
        await page.getByRole('heading', { name: 'Files', exact: true }).waitFor()
        await page.reload()
        await page.getByRole('heading', { name: 'Files', exact: true }).waitFor()
        assertNoFaults(visit)
      } finally {
        await browser.close()
        await service.close()
        proxy.close()
      }
    },
  )
})
