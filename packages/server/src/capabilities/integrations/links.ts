/** The pull requests that a message of an agent names by their addresses. */

export type PullRequestLink = { label: string; url: string }

const mostCharacters = 500

/** As GitHub, Gitea, GitLab and Bitbucket write such addresses. */
const address =
  /https:\/\/([\w.-]+(?::\d{1,5})?)\/([\w.-]+(?:\/[\w.-]+){1,5}?)(?:\/-)?\/(?:pulls?|merge_requests|pull-requests)\/(\d{1,10})(?!\w)/g

/** Each once, in the order of the text. The label is never words of the text: it says where the address leads. */
export function linksOf(text: string): PullRequestLink[] {
  const links = [...text.matchAll(address)].flatMap(([url, host, repository, number]) => {
    const place = host === 'github.com' ? '' : `${host}: `
    return url.length > mostCharacters ? [] : { label: `${place}${repository}#${number}`, url }
  })
  return [...new Map(links.map((link) => [link.url, link])).values()]
}
