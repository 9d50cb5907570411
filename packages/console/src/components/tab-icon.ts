/** The icon of the tab: with a mark while something asks people. */
import { useEffect } from 'react'
import iconAsks from './icon-asks.svg'
import icon from './icon.svg'

export function useTabIcon(isAsking: boolean): void {
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    const wanted = isAsking ? iconAsks : icon
    if (link && link.getAttribute('href') !== wanted) link.href = wanted
  }, [isAsking])
}
