import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SkillVersion } from '../../lib/api/types.ts'
import { chosenOf, fileChanges } from './versions.ts'

const versionOf = (...names: string[]): SkillVersion => ({
  id: 'skver_1',
  type: 'skill_version',
  skill_id: 'skill_1',
  version: '1',
  name: 'greeting',
  description: 'Greets people',
  directory: 'greeting',
  files: names.map((filename) => ({ filename })),
  created_at: '2026-11-01T00:00:00Z',
})

void describe('the files of two versions', () => {
  void it('are named once, SKILL.md first, with what is new and what was removed', () => {
    const changes = fileChanges(versionOf('SKILL.md', 'old.txt'), versionOf('a.txt', 'SKILL.md'))
    assert.deepEqual(
      changes.map(({ name, is }) => `${name} ${is}`),
      ['SKILL.md kept', 'a.txt added', 'old.txt gone'],
    )
    assert.deepEqual(
      fileChanges(undefined, versionOf('SKILL.md')).map(({ is }) => is),
      ['added'],
    )
  })
})

void describe('the version that is shown', () => {
  void it('is the chosen one, or the newest, beside the one before it', () => {
    const [newest, older] = [
      { ...versionOf('SKILL.md'), version: '2' },
      { ...versionOf('SKILL.md'), version: '1' },
    ]
    const rows = [newest, older]
    assert.deepEqual(chosenOf(rows, undefined), { shown: newest, before: older })
    assert.deepEqual(chosenOf(rows, '1'), { shown: older, before: undefined })
    assert.deepEqual(chosenOf(rows, 'deleted since'), { shown: newest, before: older })
  })
})
