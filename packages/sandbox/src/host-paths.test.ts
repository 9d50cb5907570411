import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withoutHostPaths } from './host-paths.ts'

describe('paths of the host', () => {
  it('are hidden from a session', () => {
    const told = {
      "EACCES: permission denied, lchown '/srv/my data/sesn_1/work space'":
        "EACCES: permission denied, lchown '(a path of the host)'",
      "bwrap: Can't find source path /srv/my data/sesn_1/outputs: No such file or directory":
        "bwrap: Can't find source path (a path of the host): No such file or directory",
      'tar (/var/lib/a.b/c).\n/usr/bin/tar: ended':
        'tar ((a path of the host)).\n(a path of the host): ended',
      '/workspacex, /mnt/session-2': '(a path of the host), (a path of the host)',
    }
    for (const [text, expected] of Object.entries(told))
      assert.equal(withoutHostPaths(text), expected)
  })

  it('are distinguished from the paths of a sandbox, addresses and names of images', () => {
    for (const text of [
      '/workspace/a, /mnt/session/outputs/b',
      'https://example.com/a: 404',
      'the image docker.io/library/node:24 has no bash',
      'and/or',
    ])
      assert.equal(withoutHostPaths(text), text)
  })
})
