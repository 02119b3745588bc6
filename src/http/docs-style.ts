// cspell:ignore opblock
/**
 * Style that completes the dark mode of Swagger UI. Swagger UI sets the class `dark-mode` if the browser prefers a dark
 * color scheme, but its page keeps a light body, and some of its texts have too little contrast.
 */
export const DOCS_STYLE = `
html.dark-mode { color-scheme: dark; }
html.dark-mode body { background: #1c2022; }
html.dark-mode .swagger-ui .header-col,
html.dark-mode .swagger-ui .examples-select__section-label { color: #e4e6e6; }
html.dark-mode .swagger-ui .opblock .opblock-section-header .try-out__btn.cancel { color: #ff8a8a; }
@media (prefers-color-scheme: dark) {
  body:not(:has(.dark-mode-toggle)) { background: #1c2022; }
}
`;
