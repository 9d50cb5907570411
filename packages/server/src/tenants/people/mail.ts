/** Emails to people: by SMTP, or without SMTP_URL into the server's log for the operator. */
import type { Log } from '@steward/base/log.ts'

/** The subject and the text may hold a secret. `kind` names the email in the log. */
export type MailLetter = {
  kind: 'sign-in code' | 'new password' | 'invitation'
  to: string
  subject: string
  text: string
}
export type Mail = {
  /** True when emails leave the server. */
  sends: boolean
  /** Returns at once, so that the time of an answer does not reveal whether the address is known. Logs a failure. */
  post(letter: MailLetter): void
}

export function mailBy({
  smtpUrl,
  from,
  log,
}: {
  smtpUrl: string | undefined
  from: string | undefined
  log: Log
}): Mail {
  if (smtpUrl === undefined) {
    return {
      sends: false,
      post: (letter) =>
        log.warn('an email was not sent, because SMTP_URL is not set: pass its text on', letter),
    }
  }
  async function send(url: string, { to, subject, text }: MailLetter): Promise<void> {
    const { createTransport } = await import('nodemailer')
    const transport = createTransport(url)
    try {
      await transport.sendMail({ to, subject, text, from: from ?? senderOf(url) })
    } finally {
      transport.close()
    }
  }
  return {
    sends: true,
    post(letter) {
      send(smtpUrl, letter).catch((error: unknown) =>
        log.error('an email could not be sent', { kind: letter.kind, error }),
      )
    },
  }
}

/** Rejects when the mail server does not answer within `patienceMs` or refuses the login. Sends nothing. */
export async function checkMail(smtpUrl: string, patienceMs: number): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const limits = { connectionTimeout: patienceMs, greetingTimeout: patienceMs }
  const transport = createTransport({ url: smtpUrl, ...limits, socketTimeout: patienceMs })
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}

/** The default sender: the user name of the mail server when it is an address, else steward@ the server's host. */
function senderOf(smtpUrl: string): string {
  const { username, hostname } = new URL(smtpUrl)
  const user = decodeURIComponent(username)
  return `Steward <${user.includes('@') ? user : `steward@${hostname}`}>`
}
