import assert from 'node:assert/strict'
import { it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { mailBy } from './mail.ts'

it('names an email that could not be sent in the log, without its subject and its text', async () => {
  const logged = Promise.withResolvers<string>()
  // Nothing listens on port 1.
  const mail = mailBy({
    smtpUrl: 'smtp://127.0.0.1:1',
    from: 'steward@example.com',
    log: jsonLog(logged.resolve),
  })
  mail.post({
    kind: 'sign-in code',
    to: 'ada@example.com',
    subject: '482913 is your code for Steward',
    text: 'Your code is 482913.',
  })
  const line = await logged.promise
  assert.match(line, /"kind":"sign-in code"/)
  assert.doesNotMatch(line, /482913/)
})
