/** True for the address where another process listens: `host:port`, IPv6 in brackets. */
export const isPeerAddress = (text: string): boolean =>
  /^(\[[\da-f:.]+\]|[\w.-]+):\d{1,5}$/i.test(text) && URL.canParse(`tcp://${text}`)
