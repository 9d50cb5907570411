/** docs/troubleshoot.md, and a guide, quote messages of the service and its workers. Each message is still in the code. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/troubleshoot.md'), 'utf8')
const guide = readFileSync(join(root, 'docs/company-identity.md'), 'utf8')

/** The sources as one text, in which texts of several parts and lines are joined. */
const sources = globSync('packages/*/src/**/*.ts', { cwd: root })
  .filter((file) => !/\.test\.ts$|fixture/.test(file))
  .map((file) => readFileSync(join(root, file), 'utf8'))
  .join('\n')
  .replace(/(['"`])\s*\+\s*(['"`])/g, '')
  .replaceAll("\\'", "'")

/** The first cells of the tables that begin with "message". */
function quotedIn(markdown: string): string[] {
  const tables = markdown.split(/\n\n/).filter((block) => block.startsWith('| message |'))
  return tables.flatMap((table) =>
    [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, message = '']) => message),
  )
}

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** True when a line of the code has the parts of the message in their order; `…` stands for any text. */
function isWritten(message: string): boolean {
  const parts = message.split('…').filter((part) => part !== '')
  assert.ok(
    parts.some((part) => part.trim().length >= 8),
    `${message}: too short to be found`,
  )
  return new RegExp(parts.map(escaped).join('.*')).test(sources)
}

describe('the page of messages', () => {
  it('quotes messages that the code still has', () => {
    const messages = quotedIn(page)
    assert.ok(messages.length >= 50, `${messages.length} messages are few`)
    assert.deepEqual(
      messages.filter((message) => !isWritten(message)),
      [],
    )
  })

  it('has a guide beside it that quotes messages of the code too', () => {
    const messages = quotedIn(guide)
    assert.ok(messages.length >= 5, `${messages.length} messages are few`)
    assert.deepEqual(
      messages.filter((message) => !isWritten(message)),
      [],
    )
  })

  it('says the cause and the remedy of each', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| `'))
    const poor = rows.filter((row) =>
      row.split(' | ').some((cell) => cell.replace(/\|/g, '').trim() === ''),
    )
    assert.deepEqual(poor, [])
    assert.equal(rows.length, quotedIn(page).length)
  })

  it('notices a message that it does not hold', () => {
    assert.equal(isWritten('a message that nobody writes'), false)
    assert.equal(isWritten('another server is using … and never stops'), false)
  })
})
