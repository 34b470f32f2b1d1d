import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { queryClient } from "@/api/queries"
import { router } from "@/app/routes"
import { applyTheme } from "@/components/theme"
import "@/styles/tokens.css"
import "@/styles/base.css"

applyTheme()

const root = document.getElementById("root")
if (root === null) throw new Error("no #root")
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
