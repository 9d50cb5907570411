import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import { resolveModel } from '@steward/model/catalog.ts'

void it('the page of models has each provider that works by name, and no other', async () => {
  const page = await readFile(new URL('../docs/models.md', import.meta.url), 'utf8')
  const refusal = JSON.stringify(await resolveModel({ provider: 'of-nobody', model: 'm' }))
  const names = /The names are ([^.]*)\./.exec(refusal)?.[1]?.split(', ') ?? []
  assert.ok(names.length > 20)
  for (const name of names) assert.ok(page.includes(`\`${name}\``), name)
  const rows = page.split('\n').filter((line) => /^\| `[a-z]/.test(line))
  const listed = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)])
  for (const [, name = ''] of listed) assert.ok(names.includes(name) || name === 'provider', name)
})
