import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { makeGithubApp } from './manifest.ts'

const made = {
  ...{ id: 7, slug: 'steward-abc', html_url: 'https://github.example/apps/steward-abc' },
  pem: '-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\n',
  ...{ client_id: 'client', client_secret: 'secret', webhook_secret: 'w'.repeat(40) },
}

/** A GitHub that gives the app for one code. */
async function github() {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const isKnown = request.url === '/api/app-manifests/code-1/conversions'
    response.writeHead(isKnown ? 201 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isKnown ? made : { message: 'Not Found' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { promise: told, resolve: tell } = Promise.withResolvers<string>()
  const { signal } = new AbortController()
  const publicUrl = 'https://steward.example'
  const settings = makeGithubApp({ publicUrl, url, apiUrl: `${url}/api`, tell }, signal)
  settings.catch(() => {})
  return {
    ...{ asked, url, settings, page: await told },
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}

/** Submits the form. Returns the form's manifest, and the page of GitHub to which the browser is sent. */
async function begun(page: string, organization = '') {
  const html = await (await fetch(page)).text()
  const [, value = ''] = /name="manifest" value="([^"]*)"/.exec(html) ?? []
  const manifest = value.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&')
  const body = new URLSearchParams({ organization, manifest })
  const next = await fetch(`${page}/begin`, { method: 'POST', body, redirect: 'manual' })
  const location = next.headers.get('location') ?? ''
  return { status: next.status, manifest: JSON.parse(manifest) as object, location }
}

describe('the GitHub app of an operator', () => {
  it('is asked for with the addresses of the service, and gives its settings once', async () => {
    await using there = await github()
    const { status, manifest, location } = await begun(there.page, 'acme')
    assert.equal(status, 307)
    assert.ok(location.startsWith(`${there.url}/organizations/acme/settings/apps/new?state=`))
    const { hook_attributes, callback_urls, redirect_url, request_oauth_on_install } = {
      ...({} as Record<string, unknown>),
      ...manifest,
    }
    assert.deepEqual(hook_attributes, {
      url: 'https://steward.example/v1/ext/integrations/github/webhook',
      active: true,
    })
    assert.deepEqual(callback_urls, ['https://steward.example/v1/ext/integrations/github/callback'])
    assert.equal(redirect_url, `${there.page}/made`)
    assert.equal(request_oauth_on_install, true)
    const state = new URL(location).searchParams.get('state') ?? ''
    const back = (query: Record<string, string>) =>
      fetch(`${there.page}/made?${String(new URLSearchParams(query))}`)
    assert.equal((await back({ code: 'code-1', state: 'forged' })).status, 404)
    assert.deepEqual(there.asked, [])
    assert.equal((await back({ code: 'code-1', state })).status, 200)
    const settings = await there.settings
    assert.deepEqual(settings, {
      INTEGRATIONS_GITHUB_APP_ID: '7',
      INTEGRATIONS_GITHUB_APP_SLUG: 'steward-abc',
      INTEGRATIONS_GITHUB_PRIVATE_KEY:
        '-----BEGIN RSA PRIVATE KEY-----\\nabc\\n-----END RSA PRIVATE KEY-----',
      INTEGRATIONS_GITHUB_CLIENT_ID: 'client',
      INTEGRATIONS_GITHUB_CLIENT_SECRET: 'secret',
      INTEGRATIONS_GITHUB_WEBHOOK_SECRET: 'w'.repeat(40),
    })
    assert.deepEqual(there.asked, ['POST /api/app-manifests/code-1/conversions'])
  })

  it('is not made for a code that GitHub does not know, nor for a name that is none', async () => {
    await using there = await github()
    assert.equal((await begun(there.page, 'a/b')).status, 400)
    const { location } = await begun(there.page)
    assert.ok(location.startsWith(`${there.url}/settings/apps/new?state=`))
    const state = new URL(location).searchParams.get('state') ?? ''
    assert.equal((await fetch(`${there.page}/made?code=other&state=${state}`)).status, 500)
    await assert.rejects(there.settings, /begin again/)
  })
})
