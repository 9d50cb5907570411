import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'

/**
 * The body of a request for its owner. When the owner destroys the body, the connection stays open for the answer, and
 * further bytes are read and dropped. `begin` is called before the first byte is read.
 */
export class RequestBody extends Readable {
  readonly #message: IncomingMessage
  #begin: (() => void) | undefined

  constructor(message: IncomingMessage, begin: () => void) {
    super({ highWaterMark: 256 * 1024 })
    this.#message = message
    this.#begin = begin
    message.on('data', (chunk: Buffer) => {
      if (!this.destroyed && !this.push(chunk)) message.pause()
    })
    message.pause()
    message.on('end', () => this.push(null))
    message.on('error', (error) => this.destroy(error))
    // The body may fail before there is a listener.
    this.on('error', () => message.resume())
  }

  override _read(): void {
    this.#begin?.()
    this.#begin = undefined
    this.#message.resume()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#message.resume()
    done(error)
  }
}
