import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runWithFewFiles } from '@steward/base/files-fixture.ts'

const module = JSON.stringify(import.meta.resolve('./builtin.ts'))

/** Asks for the built-in skills while `left` files can be opened, and again when there are enough. */
const program = `
  import { readBuiltinSkills } from ${module}
  const left = Number(process.argv.at(-1))
  const giveBack = hold(left)
  const first = await readBuiltinSkills().then(() => 'read', ({ code }) => String(code))
  await new Promise((resolve) => setTimeout(resolve, 20))
  giveBack()
  process.stdout.write([first, (await readBuiltinSkills()).size].join(' '))
`

describe('the built-in skills, in a process that is out of files', () => {
  for (const left of [0, 1, 2, 3, 4])
    it(`end no process, and are read once there are files again: ${left} left`, async () => {
      assert.match(await runWithFewFiles(program, { words: [String(left)] }), / 4$/)
    })
})
