/** Where another process listens: `host:port`, an IPv6 address in brackets. */
export const isPeerPlace = (text: string): boolean =>
  /^(\[[\da-f:.]+\]|[\w.-]+):\d{1,5}$/i.test(text) && URL.canParse(`tcp://${text}`)
