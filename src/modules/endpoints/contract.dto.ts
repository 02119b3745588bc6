export { ResponseRules, TransformConfig } from './endpoint-config.dto.js';
