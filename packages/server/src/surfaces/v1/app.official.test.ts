import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { routesOver } from './app-fixture.ts'
import { databases } from '../../ground/database/fixture.ts'
import { unknownPathErrors } from '../../ground/http/unknown-path.ts'

/** Every path in the source of the pinned official client, such as `/v1/agents/{agent_id}`. */
function officialPaths(): string[] {
  const client = dirname(createRequire(import.meta.url).resolve('@anthropic-ai/sdk'))
  const sources = globSync('resources/**/*.js', { cwd: client })
  const found = sources.flatMap((file) =>
    [...readFileSync(join(client, file), 'utf8').matchAll(/['"`](\/v1\/[\w/{}$.]+)/g)].map(
      ([, path = '']) => path.replaceAll(/\$?\{[^}]*\}/g, 'x').replace(/\/$/, ''),
    ),
  )
  return [...new Set(found)].toSorted()
}

describe('the official client', () => {
  it('asks for no path that is neither offered nor refused by name', async () => {
    await using opened = await databases.sqlite()
    const routes = routesOver(opened.database)
    const absent = unknownPathErrors(routes)
    const patterns = routes.map(({ path }) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`))
    const paths = officialPaths()
    for (const known of [
      '/v1/dreams',
      '/v1/agents/x',
      '/v1/messages/count_tokens',
      '/v1/user_profiles',
    ])
      assert.ok(paths.includes(known), known)
    const isOffered = (path: string) => patterns.some((pattern) => pattern.test(path))
    const isNamed = (path: string) =>
      absent('GET', path).message.endsWith(' not offered by this service')
    assert.deepEqual(
      paths.filter((path) => isOffered(path) === isNamed(path)),
      [],
    )
  })
})
