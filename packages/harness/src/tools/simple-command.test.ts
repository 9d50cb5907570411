import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { processorMs } from '@steward/base/cost-fixture.ts'
import { simpleCommand } from './simple-command.ts'

describe('simple commands', () => {
  it('a simple command has the words that bash gives it', () => {
    const commands = [
      'git push',
      '  git\tpush  origin   main ',
      'git push\n',
      'git commit -m "two words" --author=\'A <a@b>\'',
      `git commit -m "it's" -m 'say "hi"'`,
      `git log --format='%h $x \`y\` \\n'`,
      'git show HEAD~1 HEAD^2 origin/main:a.txt',
      'curl -H "Accept: a/b" https://a.test/x#y',
      `git commit -m ''`,
      `gi't' pu"sh"`,
      'gh issue view issue#1 -R a/b,c+d@e:f',
      "git commit -m 'two\nlines'",
      'git push -- "--force"',
      'npm publish --tag=next 50%',
      'git commit -m "größer"',
    ]
    for (const command of commands) {
      const words = simpleCommand(command)
      assert.ok(words, command)
      // Bash itself prints the words, in place of the program.
      const script = `f() { printf '%s\\0' "$@"; }; f ${command}`
      const said = spawnSync('bash', ['-c', script], {
        encoding: 'utf8',
        env: { LC_ALL: 'C.UTF-8' },
      })
      assert.deepEqual(said.stdout.split('\0').slice(0, -1), words, command)
    }
  })

  it('no other text is a simple command', () => {
    const others = [
      '',
      '   ',
      '\n',
      'git push; id',
      'git push && id',
      'git push || id',
      'git push | cat',
      'git push &',
      'git push\nid',
      'git push\rid',
      'git push > /tmp/x',
      'git push 2>&1',
      'git push < /tmp/x',
      'git push <<< x',
      '(git push)',
      '{ git push; }',
      'git push $(id)',
      'git push `id`',
      'git push $TOKEN',
      'git push "$TOKEN"',
      'git push "`id`"',
      `git push $'a'`,
      'git push $"a"',
      'git push "a\\"; id #"',
      'git push a\\ b',
      'gi\\\nt push',
      'git push *',
      'git push a?c',
      'git push [ab]',
      'git push {a,b}',
      'git push ~',
      'git push ~root/x',
      'git push a=~/x',
      'git push a:~',
      'git push # comment',
      '# git push',
      '! git push',
      'git push "!!"',
      'A=1 git push',
      'A+=1 git push',
      'a[0]=1 git push',
      'PATH=/tmp',
      '%1',
      'git push "unfinished',
      "git push 'unfinished",
      'git\u00a0push',
      'git push\u2003x',
      'git\u0000push',
      '"" git push',
      '"git push"',
      'if true',
      'function f',
      'time git push',
      'coproc git push',
      '[[ a ]]',
      'eval "git push; id"',
      "eval 'git push; id'",
      '. /tmp/x',
      'source /tmp/x',
      'exec git push',
      'command git push',
      'builtin echo',
      "trap 'id' EXIT",
      "alias git='id'",
      'export A',
      'declare -p',
      'set',
      'env',
      '/usr/bin/env git push',
      'printenv TOKEN',
      "bash -c 'git push && id'",
      "/bin/sh -c 'id'",
      "'bash' -c id",
      'b"as"h x',
    ]
    for (const command of others) assert.equal(simpleCommand(command), undefined, command)
  })

  it('the answer takes no time, whatever the text', () => {
    const began = processorMs()
    assert.equal(simpleCommand(`git push${'\n'.repeat(100_000)}x`), undefined)
    assert.equal(simpleCommand('a'.repeat(8_000_000)), undefined)
    assert.ok(processorMs() - began < 1_000)
    assert.deepEqual(simpleCommand(`git push${'\n'.repeat(100_000)}`), ['git', 'push'])
    assert.equal(simpleCommand(`git ${'a'.repeat(100_000)}`)?.length, 2)
  })
})
