# Terraform: the search function behind a function URL, and the indexer behind a bucket.
#
#   cargo xtask lambda && terraform -chdir=edge-adapters/lambda/deploy apply

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source = "hashicorp/aws"
      # The first with invoked_via_function_url.
      version = ">= 6.29"
    }
  }
}

variable "name" {
  description = "Begins the names of what is made"
  type        = string
  default     = "canter"
}

variable "index_bucket" {
  description = "The bucket that holds the index. It must exist."
  type        = string
}

variable "index_prefix" {
  description = "Where in the bucket the index is, without slashes at its ends"
  type        = string
  default     = "logs"
}

variable "index_name" {
  description = "What searches call the index, as in /api/v1/logs/search"
  type        = string
  default     = "logs"
}

variable "index_config" {
  description = "The index config in YAML, for the indexer to make the index with; empty if the index is there"
  type        = string
  default     = ""
}

variable "arrivals_bucket" {
  description = "The name of a new bucket whose objects are indexed; empty for a search without indexer"
  type        = string
  default     = ""
}

variable "api_keys" {
  description = "API keys: the text of the file that `canter key add` writes; these or jwks are needed if function_url_auth is NONE"
  type        = string
  default     = ""
  sensitive   = true
}

variable "jwks" {
  description = "The set of keys that JSON Web Tokens are checked against, as JSON"
  type        = string
  default     = ""
  sensitive   = true
}

variable "jwt_issuer" {
  description = "Who must have issued a JSON Web Token (iss)"
  type        = string
  default     = ""
}

variable "jwt_audience" {
  description = "For whom a JSON Web Token must be (aud)"
  type        = string
  default     = ""
}

variable "function_url_auth" {
  description = "AWS_IAM lets in signed requests only; NONE lets in everybody who has a token"
  type        = string
  default     = "AWS_IAM"

  validation {
    condition     = contains(["AWS_IAM", "NONE"], var.function_url_auth)
    error_message = "Give AWS_IAM or NONE."
  }
}

variable "cors_origins" {
  description = "Origins of web pages that may search, separated by commas"
  type        = string
  default     = ""
}

variable "architecture" {
  description = "arm64 or x86_64"
  type        = string
  default     = "arm64"
}

variable "packages" {
  description = "Where `cargo xtask lambda` has put the packages"
  type        = string
  default     = "../../../target/lambda"
}

variable "search_memory" {
  description = "MB; 1769 are one core"
  type        = number
  default     = 1769
}

variable "max_leaves" {
  description = "A search of a large index is divided among at most so many instances; 1 never divides"
  type        = number
  default     = 8
}

data "aws_partition" "current" {}

locals {
  packages      = startswith(var.packages, "/") ? var.packages : "${path.module}/${var.packages}"
  search_zip    = "${local.packages}/${var.architecture}/canter-search.zip"
  indexer_zip   = "${local.packages}/${var.architecture}/canter-indexer.zip"
  has_arrivals  = var.arrivals_bucket != ""
  bucket_arn    = "arn:${data.aws_partition.current.partition}:s3:::${var.index_bucket}"
  arrivals_arn  = "arn:${data.aws_partition.current.partition}:s3:::${var.arrivals_bucket}"
  logs_policy   = "arn:${data.aws_partition.current.partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
  assume_lambda = <<-JSON
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Effect": "Allow",
          "Action": "sts:AssumeRole",
          "Principal": { "Service": "lambda.amazonaws.com" }
        }
      ]
    }
  JSON
}

resource "aws_iam_role" "search" {
  name               = "${var.name}-search"
  assume_role_policy = local.assume_lambda
}

resource "aws_iam_role_policy_attachment" "search_logs" {
  role       = aws_iam_role.search.name
  policy_arn = local.logs_policy
}

resource "aws_iam_role_policy" "search_reads" {
  name = "read-the-index"
  role = aws_iam_role.search.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect   = "Allow"
        Action   = "s3:GetObject"
        Resource = "${local.bucket_arn}/${var.index_prefix}/*"
      },
      {
        # Without it, S3 says of an object that is not there that it is forbidden.
        Effect    = "Allow"
        Action    = "s3:ListBucket"
        Resource  = local.bucket_arn
        Condition = { StringLike = { "s3:prefix" = "${var.index_prefix}/*" } }
      },
    ]
  })
}

resource "aws_iam_role_policy" "search_invokes_itself" {
  count = var.max_leaves > 1 ? 1 : 0
  name  = "invoke-itself"
  role  = aws_iam_role.search.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "lambda:InvokeFunction"
      Resource = [aws_lambda_function.search.arn, "${aws_lambda_function.search.arn}:*"]
    }]
  })
}

resource "aws_lambda_function" "search" {
  function_name    = "${var.name}-search"
  description      = "Searches the index"
  role             = aws_iam_role.search.arn
  filename         = local.search_zip
  source_code_hash = filebase64sha256(local.search_zip)
  runtime          = "provided.al2023"
  handler          = "bootstrap"
  architectures    = [var.architecture]
  memory_size      = var.search_memory
  timeout          = 29

  ephemeral_storage {
    size = 512
  }

  environment {
    variables = {
      CANTER_INDEXES       = "${var.index_name}=s3://${var.index_bucket}/${var.index_prefix}"
      CANTER_CACHE_BYTES   = "400000000"
      CANTER_API_KEYS      = var.api_keys
      CANTER_JWKS          = var.jwks
      CANTER_JWT_ISSUER    = var.jwt_issuer
      CANTER_JWT_AUDIENCE  = var.jwt_audience
      CANTER_CORS_ORIGINS  = var.cors_origins
      CANTER_LEAF_FUNCTION = var.max_leaves > 1 ? "self" : ""
      CANTER_MAX_LEAVES    = tostring(var.max_leaves)
    }
  }

  lifecycle {
    precondition {
      condition     = var.function_url_auth != "NONE" || var.api_keys != "" || var.jwks != ""
      error_message = "With function_url_auth NONE everybody can search; give api_keys or jwks."
    }
  }
}

resource "aws_lambda_function_url" "search" {
  function_name      = aws_lambda_function.search.function_name
  authorization_type = var.function_url_auth
}

resource "aws_lambda_permission" "search_url" {
  count                  = var.function_url_auth == "NONE" ? 1 : 0
  statement_id           = "anybody-by-url"
  action                 = "lambda:InvokeFunctionUrl"
  function_name          = aws_lambda_function.search.function_name
  principal              = "*"
  function_url_auth_type = "NONE"
}

# Function URLs ask for both since October 2025.
resource "aws_lambda_permission" "search_by_url" {
  count                    = var.function_url_auth == "NONE" ? 1 : 0
  statement_id             = "anybody-by-url-invokes"
  action                   = "lambda:InvokeFunction"
  function_name            = aws_lambda_function.search.function_name
  principal                = "*"
  invoked_via_function_url = true
}

resource "aws_s3_bucket" "arrivals" {
  count  = local.has_arrivals ? 1 : 0
  bucket = var.arrivals_bucket
}

resource "aws_s3_bucket_public_access_block" "arrivals" {
  count                   = local.has_arrivals ? 1 : 0
  bucket                  = aws_s3_bucket.arrivals[0].id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_iam_role" "indexer" {
  count              = local.has_arrivals ? 1 : 0
  name               = "${var.name}-indexer"
  assume_role_policy = local.assume_lambda
}

resource "aws_iam_role_policy_attachment" "indexer_logs" {
  count      = local.has_arrivals ? 1 : 0
  role       = aws_iam_role.indexer[0].name
  policy_arn = local.logs_policy
}

resource "aws_iam_role_policy" "indexer" {
  count = local.has_arrivals ? 1 : 0
  name  = "index"
  role  = aws_iam_role.indexer[0].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect   = "Allow"
        Action   = "s3:GetObject"
        Resource = "${local.arrivals_arn}/*"
      },
      {
        Effect   = "Allow"
        Action   = ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"]
        Resource = "${local.bucket_arn}/${var.index_prefix}/*"
      },
      {
        Effect   = "Allow"
        Action   = "s3:ListBucket"
        Resource = [local.bucket_arn, local.arrivals_arn]
      },
      {
        Effect   = "Allow"
        Action   = "sqs:SendMessage"
        Resource = aws_sqs_queue.not_indexed[0].arn
      },
    ]
  })
}

resource "aws_lambda_function" "indexer" {
  count            = local.has_arrivals ? 1 : 0
  function_name    = "${var.name}-indexer"
  description      = "Indexes what arrives in a bucket"
  role             = aws_iam_role.indexer[0].arn
  filename         = local.indexer_zip
  source_code_hash = filebase64sha256(local.indexer_zip)
  runtime          = "provided.al2023"
  handler          = "bootstrap"
  architectures    = [var.architecture]
  memory_size      = 2048
  timeout          = 900

  ephemeral_storage {
    size = 512
  }

  environment {
    variables = {
      CANTER_INDEX        = "s3://${var.index_bucket}/${var.index_prefix}"
      CANTER_INDEX_CONFIG = var.index_config
    }
  }
}

# Events that failed three times, with the reason.
resource "aws_sqs_queue" "not_indexed" {
  count                     = local.has_arrivals ? 1 : 0
  name                      = "${var.name}-not-indexed"
  message_retention_seconds = 1209600
}

resource "aws_lambda_function_event_invoke_config" "indexer" {
  count                  = local.has_arrivals ? 1 : 0
  function_name          = aws_lambda_function.indexer[0].function_name
  maximum_retry_attempts = 2

  destination_config {
    on_failure {
      destination = aws_sqs_queue.not_indexed[0].arn
    }
  }
}

resource "aws_lambda_permission" "arrivals" {
  count         = local.has_arrivals ? 1 : 0
  statement_id  = "objects-arrive"
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.indexer[0].function_name
  principal     = "s3.amazonaws.com"
  source_arn    = aws_s3_bucket.arrivals[0].arn
}

resource "aws_s3_bucket_notification" "arrivals" {
  count  = local.has_arrivals ? 1 : 0
  bucket = aws_s3_bucket.arrivals[0].id

  lambda_function {
    lambda_function_arn = aws_lambda_function.indexer[0].arn
    events              = ["s3:ObjectCreated:*"]
  }

  depends_on = [aws_lambda_permission.arrivals]
}

output "search_url" {
  description = "POST it /api/v1/NAME/search"
  value       = aws_lambda_function_url.search.function_url
}
