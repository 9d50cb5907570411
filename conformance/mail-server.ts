/** A mail server that stores the mails it receives, with the part of SMTP that a client without TLS uses. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createServer } from 'node:net'

export type MailServer = AsyncDisposable & { url: string; letters: string[] }

export async function mailServer(): Promise<MailServer> {
  const letters: string[] = []
  const server = createServer((socket) => speak(socket, (letter) => letters.push(letter)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    url: `smtp://steward%40example.com:secret@127.0.0.1:${port}`,
    letters,
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}

function speak(socket: Socket, keep: (letter: string) => void): void {
  let text = ''
  let isLetter = false
  const say = (line: string) => socket.write(`${line}\r\n`)
  const answers: [RegExp, string][] = [
    [/^EHLO/i, '250-here\r\n250 AUTH PLAIN'],
    [/^AUTH/i, '235 welcome'],
    [/^DATA/i, '354 go on'],
    [/^QUIT/i, '221 bye'],
    [/./, '250 ok'],
  ]
  socket.on('error', () => {})
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    for (;;) {
      const end = text.indexOf(isLetter ? '\r\n.\r\n' : '\r\n')
      if (end < 0) return
      const said = text.slice(0, end)
      text = text.slice(end + (isLetter ? 5 : 2))
      if (isLetter) keep(said.replaceAll('=\r\n', ''))
      say(isLetter ? '250 kept' : (answers.find(([form]) => form.test(said))?.[1] ?? '500 no'))
      isLetter = !isLetter && /^DATA/i.test(said)
    }
  })
  say('220 here')
}
