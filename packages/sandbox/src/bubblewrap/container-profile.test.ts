import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { containerProfile } from './container-profile.ts'

const file = new URL('../../../../deploy/seccomp.json', import.meta.url)

describe('the filter of a container in which sandboxes start', () => {
  it('is the file that operators give to their engine', () => {
    const written = `${JSON.stringify(containerProfile, null, 2)}\n`
    assert.equal(
      readFileSync(file, 'utf8'),
      written,
      `write it to deploy/seccomp.json:\n${written.slice(0, 500)}`,
    )
  })

  it('lets a container load no kernel module, read no memory of others and use no io_uring', () => {
    const [allowed] = containerProfile.syscalls
    for (const name of ['init_module', 'bpf', 'process_vm_readv', 'io_uring_setup', 'keyctl'])
      assert.ok(!allowed.names.includes(name), name)
  })
})
