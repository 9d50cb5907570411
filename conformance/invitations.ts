/** The token of a link of an invitation. */
export const invitationToken = (url: string): string => url.split('#')[1] ?? ''
