/** What the page of components shows. */
import type { ApiCall } from '../../lib/request/api-call.ts'
export const codeBefore = `test('fires once', async () => {
  const started = now()
  await sleep(50)
  assert.equal(fired, true)
})
`
export const codeAfter = `test('fires once', async () => {
  const started = now()
  const [at] = await once(timer, 'fired')
  assert.ok(at >= started)
})
`
export const jsonValue = {
  type: 'agent.tool_use',
  name: 'bash',
  input: { command: 'git push origin fix/flaky-timer', timeout_ms: 120_000 },
  evaluated_permission: 'ask',
  tags: ['a', 'b', { deep: { deeper: { deepest: true } } }],
  note: 'a long text '.repeat(80),
  nothing: null,
}
export const markdownText = `### What I found

Two of 214 packages have advisories; both are **build-time only**. See [the advisory](https://github.com/advisories).

- \`tar@7.4.3\` writes outside of its folder
- \`undici@7.2.0\` keeps a header after a redirect

| Package | From | To |
|---|---|---|
| tar | 7.4.3 | 7.4.4 |

> Nothing else was changed.
`
export const hostileText = `<script>alert(1)</script> <img src=x onerror=alert(1)> [a link](javascript:alert(1)) ![a picture](https://evil.example/pixel.png) <svg onload=alert(1)>`
export const hiddenCommand = 'rm -rf build\u200b \u202e# dliub eht snaelc\u202c'
export const longOutput = Array.from(
  { length: 18_420 },
  (_, line) => `npm verbose line ${line + 1}`,
).join('\n')
/** Since when the example of a running call runs. */
export const runningFrom = Date.now() - 48_000

export const runningOutput = Array.from(
  { length: 12 },
  (_, n) => `ok ${n + 1} - tests/timer-${n + 1}.test.ts\n`,
).join('')

export const colouredOutput =
  '\u001b[32m✔ fires once\u001b[39m\n\u001b[31m✖ fires twice\u001b[39m\n\u001b[33m! slow\u001b[39m'

const day = 86_400
const first = Date.UTC(2026, 10, 12) / 1_000
export const days = Array.from({ length: 14 }, (_, at) => first + at * day)
export const costs = [6, 9, 8, 14, 13, 4, 4, 11, 16, 17, 15, 5, 4, 18.4]

const agentId = 'agent_01a2c4e6'

export const agentCall: ApiCall = {
  method: 'POST',
  path: `/v1/agents/${agentId}`,
  client: 'beta.agents.update',
  args: [agentId],
  body: {
    version: 12,
    system: 'You review. Run the tests before you answer.',
    tools: [{ type: 'agent_toolset_20260401' }],
  },
}

export const fileDiff = `--- a/src/timer.ts
+++ b/src/timer.ts
@@ -1,3 +1,3 @@
 export function start() {
-  setInterval(tick, 10)
+  return setTimeout(tick, 10)
 }
`
