import { createContext, useContext } from 'react'

export type FrameActions = { openPalette: () => void; openNavigation: () => void }

const nothing: FrameActions = { openPalette: () => {}, openNavigation: () => {} }
export const FrameContext = createContext<FrameActions>(nothing)
export const useFrame = (): FrameActions => useContext(FrameContext)
